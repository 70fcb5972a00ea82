//! The directories the user works in, in the order they were added.
//!
//! Knows paths and `projects.json`, and nothing about sessions: removing a project leaves its sessions alone.

mod complete;
mod path;

use std::path::Path;
use std::time::SystemTime;

use liminal_contract::{Details, ErrorCode, Project, ProjectId, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::failure::Failure;
use crate::store::{Document, JsonFile, StoreError};

pub use complete::completions;
pub use path::{ProjectPath, RefusedPath};

/// Every project, on disk.
#[derive(Debug)]
pub struct Projects(JsonFile<ProjectsFile>);

/// What `projects.json` holds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ProjectsFile {
    projects: Vec<Project>,
    /// Remembered, so that adding the directory again gives the same id back and finds its sessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    removed: Vec<Project>,
}

impl Document for ProjectsFile {
    const FILE: &'static str = "projects.json";
    const LIST: &'static str = "projects";
}

/// Why a project was not added, found or removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProjectError {
    /// Not a directory we can work in.
    #[error("Project path is invalid or inaccessible. {0}")]
    Path(#[from] RefusedPath),
    /// The same directory is a project already.
    #[error("Project already exists.")]
    Duplicate {
        /// The project.
        existing: Project,
    },
    /// No project has this id.
    #[error(
        "Project not found. It may have been removed in another window; add its directory again to bring it back."
    )]
    NotFound,
    /// No project is at this path.
    #[error("No project has the directory {path}. {reason}")]
    NotAt {
        /// As it was given.
        path: String,
        /// A sentence that says what to do.
        reason: String,
    },
    /// The project is there, its directory is not.
    #[error(
        "The project's directory {path} is not there any more, or can't be read. Bring it back, then try again."
    )]
    Gone {
        /// The directory.
        path: String,
    },
    /// The file could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ProjectError> for Failure {
    fn from(error: ProjectError) -> Self {
        let message = error.to_string();
        match error {
            ProjectError::Path(refused) => Self::new(ErrorCode::ProjectPathInvalid, message)
                .with_details(Details { path: Some(refused.path), ..Details::default() }),
            ProjectError::Gone { path } => Self::new(ErrorCode::ProjectPathInvalid, message)
                .with_details(Details { path: Some(path), ..Details::default() }),
            ProjectError::Duplicate { existing } => Self::new(ErrorCode::ProjectDuplicate, message)
                .with_details(Details { path: Some(existing.path), ..Details::default() }),
            ProjectError::NotFound => Self::new(ErrorCode::ProjectNotFound, message),
            ProjectError::NotAt { path, .. } => Self::new(ErrorCode::ProjectNotFound, message)
                .with_details(Details { path: Some(path), ..Details::default() }),
            ProjectError::Store(error) => error.into(),
        }
    }
}

impl Projects {
    /// Reads the file of this data directory.
    pub fn open(data_dir: &Path) -> Self {
        Self(JsonFile::open(data_dir))
    }

    /// Why the file can't be used, when it can't.
    pub fn trouble(&self) -> Option<StoreError> {
        self.0.trouble()
    }

    /// Shows all projects, in the order added. What `look` hands on is in order with what is told of changes.
    pub fn look<T>(&self, look: impl FnOnce(&[Project]) -> T) -> Result<T, StoreError> {
        self.0.look(|file| look(&file.projects))
    }

    /// One project.
    pub fn get(&self, id: &ProjectId) -> Result<Project, ProjectError> {
        let found =
            self.0.look(|file| file.projects.iter().find(|project| project.id == *id).cloned())?;
        found.ok_or(ProjectError::NotFound)
    }

    /// One project, whose directory is there to be worked in.
    pub async fn workable(&self, id: &ProjectId) -> Result<Project, ProjectError> {
        let project = self.get(id)?;
        let path = project.path.clone();
        let is_there = tokio::task::spawn_blocking(move || Path::new(&path).is_dir()).await;
        match is_there {
            Ok(true) => Ok(project),
            Ok(false) | Err(_) => Err(ProjectError::Gone { path: project.path }),
        }
    }

    /// The project of this directory.
    pub fn at(&self, path: &ProjectPath) -> Result<Project, ProjectError> {
        let found = self.0.look(|file| {
            file.projects.iter().find(|project| project.path == path.as_str()).cloned()
        })?;
        found.ok_or_else(|| ProjectError::NotAt {
            path: path.as_str().to_owned(),
            reason: "Add it as a project first.".to_owned(),
        })
    }

    /// Makes the directory a project. `tell` runs when it is on disk, in order with other changes.
    pub async fn add(
        &self,
        path: ProjectPath,
        tell: impl FnOnce(&Project) + Send + 'static,
    ) -> Result<Project, ProjectError> {
        let now = Timestamp::from(SystemTime::now());
        self.0.change(move |file| file.add(&path, now), tell).await
    }

    /// Forgets the project. `tell` runs when that is on disk, in order with other changes.
    pub async fn remove(
        &self,
        id: ProjectId,
        tell: impl FnOnce(&ProjectId) + Send + 'static,
    ) -> Result<ProjectId, ProjectError> {
        self.0.change(move |file| file.remove(id), tell).await
    }
}

impl ProjectsFile {
    fn add(&mut self, path: &ProjectPath, now: Timestamp) -> Result<Project, ProjectError> {
        if let Some(existing) = self.projects.iter().find(|project| project.path == path.as_str()) {
            return Err(ProjectError::Duplicate { existing: existing.clone() });
        }
        let known = self.removed.iter().position(|project| project.path == path.as_str());
        let id = match known {
            Some(at) => self.removed.remove(at).id,
            None => ProjectId::new(Uuid::new_v4().to_string()),
        };
        let project = Project {
            id,
            path: path.as_str().to_owned(),
            name: path.name().to_owned(),
            added_at: now,
        };
        self.projects.push(project.clone());
        Ok(project)
    }

    fn remove(&mut self, id: ProjectId) -> Result<ProjectId, ProjectError> {
        let at = self
            .projects
            .iter()
            .position(|project| project.id == id)
            .ok_or(ProjectError::NotFound)?;
        self.removed.push(self.projects.remove(at));
        Ok(id)
    }
}
