//! Which answers to a permission are a refusal, and how an answer is written.

use agent_client_protocol_schema::v1::{
    RequestPermissionOutcome, RequestPermissionResponse, SelectedPermissionOutcome,
};
use liminal_contract::{AskKind, AskOption};

/// Whether this answer means that the call is not to be.
pub(crate) fn refuses(options: &[AskOption], chosen: Option<&str>) -> bool {
    let kind = options.iter().find(|option| Some(option.option_id.as_str()) == chosen);
    match kind.map(|option| option.kind) {
        Some(AskKind::RejectOnce | AskKind::RejectAlways) => true,
        Some(AskKind::AllowOnce | AskKind::AllowAlways | AskKind::Other) | None => false,
    }
}

/// The answer as the wire has it.
pub(crate) fn response(chosen: Option<&str>) -> RequestPermissionResponse {
    RequestPermissionResponse::new(match chosen {
        Some(option) => {
            RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.to_owned()))
        }
        None => RequestPermissionOutcome::Cancelled,
    })
}
