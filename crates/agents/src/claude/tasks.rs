//! The sub-agents and commands that Claude Code runs beside the conversation: those that run, and the last that ended.
//! Pure.

use liminal_contract::{AgentTask, TaskKind, TaskState, Timestamp};

use super::wire::TaskLine;

/// How many that ended are remembered.
const MOST_ENDED: usize = 20;

#[derive(Debug, Default)]
pub struct Tasks {
    /// In the order in which they began.
    all: Vec<AgentTask>,
    changed: bool,
}

impl Tasks {
    /// The list, if it changed since this was last called.
    pub fn news(&mut self) -> Option<Vec<AgentTask>> {
        std::mem::take(&mut self.changed).then(|| self.all.clone())
    }

    pub fn is_any_running(&self) -> bool {
        self.all.iter().any(is_running)
    }

    /// Whether the task runs and the turn does not wait for it.
    pub fn is_in_background(&self, id: &str) -> bool {
        self.all.iter().any(|task| task.id == id && is_running(task) && !task.in_turn)
    }

    pub fn call_of(&self, id: &str) -> Option<String> {
        self.all.iter().find(|task| task.id == id)?.call_id.clone()
    }

    /// A task began, or more is known about it.
    pub fn began(&mut self, line: TaskLine, in_turn: bool, now: Timestamp) {
        if line.ambient || line.task_id.is_empty() {
            return;
        }
        let kind = match line.task_type.as_str() {
            "local_bash" => TaskKind::Command,
            "local_agent" => TaskKind::SubAgent,
            _ => TaskKind::Other,
        };
        let known = self.all.iter().position(|task| task.id == line.task_id);
        let task = match known {
            Some(at) => &mut self.all[at],
            None => {
                self.all.push(AgentTask {
                    id: line.task_id,
                    name: String::new(),
                    kind,
                    state: TaskState::Running,
                    in_turn,
                    call_id: None,
                    started_at: now,
                    ended_at: None,
                });
                let last = self.all.len() - 1;
                &mut self.all[last]
            }
        };
        task.in_turn = in_turn;
        task.call_id = line.tool_use_id.or(task.call_id.take());
        if !line.description.is_empty() {
            task.name = line.description;
        }
        self.changed = true;
    }

    /// The turn goes on without it.
    pub fn moved_to_background(&mut self, id: &str) {
        for task in self.all.iter_mut().filter(|task| task.id == id) {
            task.in_turn = false;
            self.changed = true;
        }
    }

    pub fn ended(&mut self, id: &str, state: TaskState, now: Timestamp) {
        self.end(state, now, |task| task.id == id);
    }

    /// Every live background task, as the agent lists them.
    pub fn listed(&mut self, live: Vec<TaskLine>, now: Timestamp) {
        let is_listed = |id: &str| live.iter().any(|line| line.task_id == id);
        let gone: Vec<String> = self.all.iter().map(|task| task.id.clone()).collect();
        let gone: Vec<String> = gone.into_iter().filter(|id| !is_listed(id)).collect();
        self.end(TaskState::Completed, now, |task| !task.in_turn && gone.contains(&task.id));
        for line in live {
            if !self.is_in_background(&line.task_id) {
                self.began(line, false, now);
            }
        }
    }

    /// The turn ended, and with it whatever it waited for.
    pub fn turn_ended(&mut self, now: Timestamp) {
        self.end(TaskState::Completed, now, |task| task.in_turn);
    }

    /// The process is gone.
    pub fn lost(&mut self, now: Timestamp) {
        self.end(TaskState::Lost, now, |_| true);
    }

    fn end(&mut self, state: TaskState, now: Timestamp, which: impl Fn(&AgentTask) -> bool) {
        for task in self.all.iter_mut().filter(|task| is_running(task) && which(task)) {
            (task.state, task.ended_at) = (state, Some(now));
            self.changed = true;
        }
        let mut surplus = self.all.iter().filter(|task| !is_running(task)).count();
        surplus = surplus.saturating_sub(MOST_ENDED);
        self.all.retain(|task| {
            let goes = surplus > 0 && !is_running(task);
            surplus -= usize::from(goes);
            !goes
        });
    }
}

fn is_running(task: &AgentTask) -> bool {
    task.state == TaskState::Running
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str) -> TaskLine {
        TaskLine { task_id: id.into(), task_type: "local_bash".into(), ..TaskLine::default() }
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn a_task_runs_until_it_is_said_to_have_ended() {
        let mut tasks = Tasks::default();
        tasks.began(TaskLine { description: "Build".into(), ..line("a") }, true, at(1));
        tasks.moved_to_background("a");
        tasks.turn_ended(at(2));
        assert!(tasks.is_any_running() && tasks.is_in_background("a"));
        tasks.ended("a", TaskState::Failed, at(3));
        tasks.listed(Vec::new(), at(4));
        let told = tasks.news().unwrap();
        assert_eq!(told.len(), 1);
        assert_eq!((told[0].state, told[0].ended_at), (TaskState::Failed, Some(at(3))));
        assert_eq!(told[0].name, "Build");
        assert_eq!(tasks.news(), None, "nothing changed since");
    }

    #[test]
    fn what_the_agent_no_longer_lists_has_ended_and_what_it_lists_runs() {
        let mut tasks = Tasks::default();
        tasks.began(line("a"), false, at(1));
        tasks.began(line("turn"), true, at(1));
        tasks.listed(vec![line("b"), TaskLine { ambient: true, ..line("c") }], at(2));
        let told = tasks.news().unwrap();
        let states: Vec<_> = told.iter().map(|task| (task.id.as_str(), task.state)).collect();
        let (running, done) = (TaskState::Running, TaskState::Completed);
        assert_eq!(states, [("a", done), ("turn", running), ("b", running)]);
        tasks.lost(at(3));
        assert!(!tasks.is_any_running());
    }

    #[test]
    fn only_the_last_that_ended_are_kept() {
        let mut tasks = Tasks::default();
        tasks.began(line("lives"), false, at(0));
        for n in 0..1_000i64 {
            tasks.began(line(&n.to_string()), false, at(n));
            tasks.ended(&n.to_string(), TaskState::Completed, at(n));
        }
        let told = tasks.news().unwrap();
        assert_eq!((told.len(), told[0].id.as_str()), (MOST_ENDED + 1, "lives"));
        assert_eq!(told[MOST_ENDED].id, "999");
    }
}
