//! A session while it is being deleted.

use liminal_contract::WorktreeFate;

use super::*;

#[tokio::test]
async fn a_session_that_is_being_deleted_is_not_started_again_and_the_journal_goes_on() {
    let stage = Stage::new(Duration::from_secs(600)).await;
    let Stage { puppet, service, client, .. } = &stage;
    service.open(&session(), opening(&client.outbox)).await.unwrap();
    stage.send("go").await;

    let held = puppet.killing.lock().await;
    let delete = {
        let service = service.clone();
        async move { service.delete(&session(), WorktreeFate::Keep).await }
    };
    let deleted = tokio::spawn(delete);
    while service.registry.lock().await.running(&session()).is_some() {
        tokio::task::yield_now().await;
    }
    let refused = service.send(message("more")).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::SessionNotFound);
    let again = service.delete(&session(), WorktreeFate::Keep).await.unwrap_err();
    assert_eq!(again.code, ErrorCode::SessionNotFound);

    drop(held);
    deleted.await.unwrap().unwrap();
    all_is_told(&service.around.journal).await;
    let kept = service.around.journal.read(|reader| reader.session(&session())).await.unwrap();
    assert!(kept.is_none());
}
