//! A browser that logged in with a key, as the page does it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use serde_json::json;

use super::{Answer, App, Call};

/// Its key, and the server it is logged in to.
#[derive(Clone)]
pub struct Keyed {
    host: String,
    connect_to: String,
    id: String,
    key: SigningKey,
}

impl Keyed {
    /// Logs in with the token.
    pub async fn logs_in(app: &App) -> Self {
        let key = new_signing_key();
        let body = json!({"token": app.token(), "key": public(&key)});
        let answer = app.call("POST", "/api/login").json(&body).send().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let id = answer.json()["browser"].as_str().unwrap().to_owned();
        Self { host: app.host().into(), connect_to: app.host().into(), id, key }
    }

    /// A public key that is never used.
    pub fn new_key() -> String {
        public(&new_signing_key())
    }

    /// The same browser at another address of the server, or after a restart.
    pub fn at(&self, host: &str) -> Self {
        Self { host: host.into(), ..self.clone() }
    }

    /// Its entry in the server's list.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Asks for a challenge.
    pub async fn wants_challenge(&self) -> Answer {
        let body = json!({"browser": self.id, "nonce": "0123456789abcdef"});
        self.call("/api/challenge").json(&body).send().await
    }

    /// Asks for a challenge and gets one.
    pub async fn asks_challenge(&self) -> String {
        let answer = self.wants_challenge().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["challenge"].as_str().unwrap().to_owned()
    }

    /// Answers a challenge, for its own address.
    pub async fn answers(&self, challenge: &str) -> Answer {
        self.signs(challenge, &format!("http://{}", self.host)).await
    }

    /// Answers a challenge, for this origin.
    pub async fn signs(&self, challenge: &str, origin: &str) -> Answer {
        let message = format!("browser\n{origin}\n{challenge}");
        let signature: Signature = self.key.sign(message.as_bytes());
        let answer = URL_SAFE_NO_PAD.encode(signature.to_bytes());
        let body = json!({"browser": self.id, "challenge": challenge, "answer": answer});
        self.call("/api/ticket").json(&body).send().await
    }

    pub async fn gets_ticket(&self) -> String {
        let answer = self.answers(&self.asks_challenge().await).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["ticket"].as_str().unwrap().to_owned()
    }

    /// Checks that neither its key nor this ticket works any more.
    pub async fn is_out(&self, ticket: &str) {
        self.wants_challenge().await.is_refused_with(401, "UNAUTHORIZED");
        for place in [self.call("/api/code"), self.call("/ws").upgrade()] {
            place.bearer(ticket).send().await.is_refused_with(401, "UNAUTHORIZED");
        }
    }

    fn call(&self, path: &str) -> Call {
        Call::new(&self.connect_to, "POST", path).host(&self.host)
    }
}

fn new_signing_key() -> SigningKey {
    // Two random ids make 32 bytes, which are a scalar of the curve but for a chance of 2^-32.
    let bytes = [uuid::Uuid::new_v4().into_bytes(), uuid::Uuid::new_v4().into_bytes()].concat();
    SigningKey::from_slice(&bytes).unwrap()
}

fn public(key: &SigningKey) -> String {
    URL_SAFE_NO_PAD.encode(key.verifying_key().to_sec1_point(false).as_bytes())
}
