//! Which part of the program answers which request: every message of the contract, once.
//!
//! Called in the order of a browser's requests. Anything slow runs in its own task and takes the `Reply` with it, so
//! that no request waits for the disk or agent of another. Requests about one session take effect in the order sent:
//! each waits for its place in the session's lane, and leaves the lane once the session's task has it.

use std::sync::Arc;

use liminal_agents::OptionChange;
use liminal_contract::{Answer, ClientMessage, Request, ServerMessage, SessionId};

use super::reply::Reply;
use super::{changes, files, outside, projects, search, sessions};
use crate::app::App;
use crate::changes::PartAsked;
use crate::failure::Failure;
use crate::feed::{Client, Place, Reading};
use crate::sessions::{
    Branching, Handed, NewCompare, NowRequest, Others, Restoring, Send, SessionRequest, Start,
    TaskReply,
};

pub fn dispatch(app: &Arc<App>, client: &Client, request: Request) {
    use ClientMessage as Asked;
    let reply = Reply::new(client.outbox.clone(), request.request_id);
    let (app, client) = (app.clone(), client.clone());
    match request.message {
        Asked::ProjectList {} => projects::list(&app, &client, reply),
        Asked::ProjectAdd { path } => {
            tokio::spawn(projects::add(app, client.id, path, reply));
        }
        Asked::ProjectDemo {} => {
            tokio::spawn(projects::add_demo(app, client.id, reply));
        }
        Asked::ProjectRemove { project_id } => {
            tokio::spawn(projects::remove(app, client.id, project_id, reply));
        }
        Asked::PathComplete { prefix } => {
            tokio::spawn(projects::complete_path(prefix, reply));
        }
        Asked::SessionClose { session_id } => {
            change(client.queue(&session_id), reply, async move {
                client.outbox.unfollow(&session_id);
                Ok(ServerMessage::Ok {})
            })
        }
        Asked::SessionOpen { session_id, since, around, tails } => {
            let place = client.queue(&session_id);
            let how = sessions::opening(client.outbox, (since, around, tails), &reply);
            tokio::spawn(sessions::open(app, session_id, how, place, reply));
        }
        Asked::SessionList { project_id, archived } => answer(reply, async move {
            let sessions = app.service.list(&project_id, archived.unwrap_or(false)).await?;
            Ok(ServerMessage::SessionList { project_id, sessions })
        }),
        Asked::SessionCreate {
            project_id,
            cli_type,
            content,
            attachments,
            policy,
            workspace,
            options,
            confirmed,
        } => {
            let (worktree, confirmed) = (sessions::worktree(workspace), confirmed == Some(true));
            let request = reply.request_id().map(str::to_owned);
            let start = Start { policy, worktree, options, confirmed, request };
            let message = content.map(|content| (content, attachments));
            let wanted = sessions::Creating { project: project_id, cli_type, start, message };
            tokio::spawn(sessions::create(app, client, wanted, reply));
        }
        Asked::WorkspaceOffer { project_id } => {
            answer(reply, async move { app.service.offer_worktree(&project_id).await })
        }
        Asked::WorkspaceRenew { session_id } => {
            change(client.queue(&session_id), reply, async move {
                app.service.renew_worktree(&session_id).await.map(sessions::ok)
            });
        }
        Asked::WorkspaceSetup { session_id, act } => {
            ask(app, &client, session_id, reply, move |reply| {
                SessionRequest::ActOnSetup(act, reply)
            });
        }
        Asked::WorkspaceDiscarded {} => {
            answer(reply, async move { Ok(app.service.discarded().await) });
        }
        Asked::WorkspaceForget { saved } => {
            answer(reply, async move { app.service.forget_discarded(&saved).await });
        }
        Asked::SessionSend { session_id, content, attachments, when_busy } => {
            let request_id = reply.request_id().map(str::to_owned);
            let when_busy = when_busy.unwrap_or_default();
            let (place, sender) = (client.queue(&session_id), Some(client.outbox));
            let send =
                Send { session: session_id, content, attachments, request_id, when_busy, sender };
            tokio::spawn(sessions::send(app, place, send, reply));
        }
        Asked::SessionQueue { session_id, message, act } => {
            ask(app, &client, session_id, reply, |reply| SessionRequest::Queue {
                message,
                act,
                reply,
            });
        }
        Asked::SessionQueueResume { session_id } => {
            ask(app, &client, session_id, reply, SessionRequest::ResumeQueue);
        }
        Asked::SessionBranch {
            session_id,
            item_id,
            at,
            kind,
            content,
            attachments,
            restore_files,
            paths,
            expect,
        } => {
            let place = client.queue(&session_id);
            let message = content.map(|content| (content, attachments));
            let restore = (restore_files == Some(true)).then_some(Restoring { paths, expect });
            let wanted =
                Branching { session: session_id, item: item_id, at, kind, message, restore };
            change(place, reply, async move { sessions::branch(&app, &client, wanted).await });
        }
        Asked::SessionCancel { session_id } => {
            ask(app, &client, session_id, reply, SessionRequest::Cancel);
        }
        Asked::SessionLooked { session_id, state } => {
            change(client.queue(&session_id), reply, async move {
                if let Some(state) = state {
                    changes::looked(&app, &session_id, state).await?;
                }
                sessions::looked(&app, &client, session_id).await
            });
        }
        Asked::SessionArchive { session_id } => {
            let place = client.queue(&session_id);
            change(place, reply, async move { sessions::archive(&app, &client, session_id).await });
        }
        Asked::SessionUnarchive { session_id } => {
            let place = client.queue(&session_id);
            change(
                place,
                reply,
                async move { sessions::unarchive(&app, &client, session_id).await },
            );
        }
        Asked::SessionRename { session_id, title } => {
            change(client.queue(&session_id), reply, async move {
                sessions::rename(&app, &client, session_id, &title).await
            });
        }
        Asked::SessionDelete { session_id, worktree } => {
            let (place, fate) = (client.queue(&session_id), worktree.unwrap_or_default());
            change(
                place,
                reply,
                async move { sessions::delete(&app, &client, session_id, fate).await },
            );
        }
        Asked::SessionPolicy { session_id, policy, confirmed } => {
            change(client.queue(&session_id), reply, async move {
                sessions::set_policy(&app, &client, session_id, policy, confirmed).await
            });
        }
        Asked::SessionOption { session_id, id, value, confirmed } => {
            let set = OptionChange { id, value, confirmed: confirmed == Some(true) };
            ask(app, &client, session_id, reply, |reply| SessionRequest::Option(set, reply));
        }
        Asked::SessionTask { session_id, task_id, act } => {
            answer(reply, async move { app.service.act_on_task(&session_id, &task_id, act).await })
        }
        Asked::SessionMcp { session_id, server, act } => {
            answer(reply, async move { app.service.act_on_mcp(&session_id, &server, act).await });
        }
        Asked::SessionReconnect { cli_type, session_id } => answer(reply, async move {
            app.service.reconnect(&cli_type, session_id.as_ref()).await.map(sessions::ok)
        }),
        Asked::SessionOlder { session_id, before } => {
            let reading = client.outbox.read_page(&session_id);
            page(reading, reply, async move { app.service.older(&session_id, before).await });
        }
        Asked::SessionNewer { session_id, after } => {
            let reading = client.outbox.read_page(&session_id);
            page(reading, reply, async move { app.service.newer(&session_id, after).await });
        }
        Asked::SessionContinueAt { session_id, at } => {
            ask(app, &client, session_id, reply, move |reply| SessionRequest::ContinueAt {
                at,
                reply,
            });
        }
        Asked::SessionPermission { session_id, item_id, option_id, answers, message } => {
            let message = message.filter(|words| !words.trim().is_empty());
            let (answers, shown) = (answers.unwrap_or_default(), Vec::new());
            let answer = Box::new(Answer { option_id, answers, shown, message });
            ask(app, &client, session_id, reply, |reply| SessionRequest::Answer {
                item: item_id,
                answer,
                reply,
            });
        }
        Asked::ChangesList { session_id, scope } => answer(reply, async move {
            let place = app.service.place(&session_id).await?;
            let beside = app.service.beside(&session_id, &place).await?;
            app.changes.list(&place, session_id, scope, beside).await
        }),
        Asked::ChangesComment { session_id, comment } => {
            ask(app, &client, session_id, reply, |reply| SessionRequest::Comment(comment, reply));
        }
        Asked::ChangesUncomment { session_id, comment_id } => {
            ask(app, &client, session_id, reply, |reply| {
                SessionRequest::Uncomment(comment_id, reply)
            });
        }
        Asked::ChangesSendComments { session_id } => {
            tokio::spawn(changes::send_comments(app, client, session_id, reply));
        }
        Asked::ChangesStorage { most } => {
            answer(reply, async move { app.changes.storage(most).await });
        }
        Asked::ChangesFile {
            session_id: session,
            scope,
            path,
            listed,
            context,
            ignore_whitespace,
            split,
            from,
            version,
        } => {
            let view = changes::view(context, ignore_whitespace);
            let (layout, from) = (changes::layout(split), from.unwrap_or_default());
            answer(reply, async move {
                let place = app.service.place(&session).await?;
                let asked = PartAsked { session, scope, path, listed, view, layout, from, version };
                app.changes.file(&place, asked).await
            });
        }
        Asked::ChangesAct { session_id, act, preview, expect } => {
            change(client.queue(&session_id), reply, async move {
                if preview == Some(true) {
                    app.service.preview_act(&session_id, act).await
                } else {
                    app.service.act(&session_id, act, expect).await
                }
            });
        }
        Asked::NowFollow {} => {
            let request_id = reply.request_id().map(str::to_owned);
            match app.now.send(NowRequest::Follow { outbox: client.outbox, request_id }) {
                Ok(()) => reply.none(),
                Err(_stopping) => drop(reply),
            }
        }
        Asked::NowLeave {} => {
            // At once; what Now still has to tell it is dropped.
            client.outbox.leave_now();
            let _stopping = app.now.send(NowRequest::Leave(client.outbox));
            reply.with(ServerMessage::Ok {});
        }
        Asked::SessionOffer { project_id } => answer(reply, async move {
            let agents = app.service.offer(&project_id).await?;
            Ok(ServerMessage::SessionOffer { project_id, agents })
        }),
        Asked::CompareStart {
            project_id,
            base,
            bring,
            content,
            attachments,
            agents,
            confirmed,
        } => {
            let new = NewCompare {
                project: project_id,
                base,
                bring: bring == Some(true),
                content,
                attachments,
                agents,
                confirmed: confirmed == Some(true),
                request: reply.request_id().map(str::to_owned),
            };
            answer(reply, async move { sessions::compare(&app, &client, new).await });
        }
        Asked::CompareList {} => answer(reply, async move {
            Ok(ServerMessage::CompareList { compares: app.service.comparisons()? })
        }),
        Asked::CompareKeep { compare_id, session_id, discard_others } => {
            let others = if discard_others { Others::Discard } else { Others::Stay };
            answer(reply, async move {
                let compare = app.service.keep(&compare_id, &session_id, others).await?;
                Ok(ServerMessage::CompareChanged { compare })
            });
        }
        Asked::OutsideList { project_id } => {
            answer(reply, async move { outside::list(&app, project_id).await });
        }
        Asked::OutsideAsk { project_id } => {
            answer(reply, async move { app.keeping.ask_agents(&project_id).await });
        }
        Asked::OutsideFind { query } => {
            answer(reply, async move { app.keeping.find(query).await });
        }
        Asked::OutsideAdopt { project_id, cli_type, refs } => {
            answer(reply, async move { outside::adopt(&app, project_id, &cli_type, refs).await });
        }
        Asked::OutsideKeep { project_id, sessions } => {
            answer(reply, async move { outside::keep(&app, project_id, sessions).await });
        }
        Asked::OutsideStop {} => answer(reply, async move { outside::stop(&app).await }),
        Asked::OutsideAutomatic { on } => {
            answer(reply, async move { outside::set_automatic(&app, on).await });
        }
        Asked::AgentsList {} => reply.with(ServerMessage::AgentsList { agents: app.agents.list() }),
        // Begun here, so that the later of two replaces the earlier.
        Asked::FilesFind { session_id, project_id, query, limit } => {
            let (of, replaced) = ((session_id, project_id), client.finds.begin());
            answer(reply, async move { files::find(&app, of, query, limit, replaced).await })
        }
        Asked::Search { query, limit } => {
            let replaced = client.searches.begin();
            tokio::spawn(search::answer(app, client.outbox, (query, limit), reply, replaced));
        }
    }
}

/// Asks a session's task for something whose only answer is that it was done.
fn ask(
    app: Arc<App>,
    client: &Client,
    session: SessionId,
    reply: Reply,
    ask: impl FnOnce(TaskReply<()>) -> SessionRequest + std::marker::Send + 'static,
) {
    let place = client.queue(&session);
    hand(place, reply, async move { app.service.hand(&session, ask).await }, sessions::ok);
}

/// Gives a request to a session's task in its turn, and answers when the task does.
fn hand<T: std::marker::Send + 'static>(
    mut place: Place,
    reply: Reply,
    handed: impl Future<Output = Result<Handed<T>, Failure>> + std::marker::Send + 'static,
    say: impl FnOnce(T) -> ServerMessage + std::marker::Send + 'static,
) {
    tokio::spawn(async move {
        place.reached().await;
        let handed = handed.await;
        drop(place);
        match handed {
            Ok(handed) => reply.settle(handed.answer().await.map(say)),
            Err(failure) => reply.fail(failure),
        }
    });
}

/// Makes a change in its turn. The requests behind it wait until it is made and told to everyone.
fn change(
    mut place: Place,
    reply: Reply,
    outcome: impl Future<Output = Result<ServerMessage, Failure>> + std::marker::Send + 'static,
) {
    tokio::spawn(async move {
        place.reached().await;
        reply.settle(outcome.await);
        drop(place);
    });
}

/// Answers with a page of a transcript, and then lets the changes through that happened meanwhile.
fn page(
    reading: Reading,
    reply: Reply,
    outcome: impl Future<Output = Result<ServerMessage, Failure>> + std::marker::Send + 'static,
) {
    tokio::spawn(async move {
        reply.settle(outcome.await);
        drop(reading);
    });
}

/// Answers in its own task, so that no request waits for the agent of another.
fn answer(
    reply: Reply,
    outcome: impl Future<Output = Result<ServerMessage, Failure>> + std::marker::Send + 'static,
) {
    tokio::spawn(async move { reply.settle(outcome.await) });
}
