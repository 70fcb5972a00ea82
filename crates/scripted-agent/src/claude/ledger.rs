//! Usage and cost, per turn and since the session began.

use serde_json::{Value, json};

/// Dollars per input and output token, as in the recordings.
const INPUT_PRICE: f64 = 3e-6;
const OUTPUT_PRICE: f64 = 15e-6;
/// Input tokens of each request to the model.
pub(super) const INPUT: u64 = 120;

/// Counts tokens. A token is four characters, so a script costs the same each time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ledger {
    /// Dollars, over all turns and resumptions.
    cost: f64,
    /// Over all turns of this process.
    total: Tokens,
    /// Of the running turn.
    turn: Tokens,
    context_window: Option<u64>,
    /// Tokens in the context, if the script says so.
    context: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Tokens {
    input: u64,
    output: u64,
}

impl Ledger {
    pub(super) fn resumed(cost: f64) -> Self {
        Self { cost, ..Self::default() }
    }

    pub(super) fn request(&mut self, output: u64) {
        for tokens in [&mut self.total, &mut self.turn] {
            tokens.input += INPUT;
            tokens.output += output;
        }
        #[allow(clippy::cast_precision_loss, reason = "tokens of a script are few")]
        let (input, output) = (INPUT as f64, output as f64);
        self.cost += input * INPUT_PRICE + output * OUTPUT_PRICE;
    }

    /// The script sets the usage.
    pub(super) fn set(&mut self, used: u64, size: u64, cost: Option<f64>) {
        self.turn.input = used;
        self.context = Some(used);
        self.context_window = Some(size);
        self.cost = cost.unwrap_or(self.cost);
    }

    /// The answer to `get_context_usage`, as far as the script says how full the context is.
    pub(super) fn context_usage(&self) -> Option<Value> {
        let (used, size) = (self.context?, self.context_window?);
        Some(json!({"totalTokens": used, "maxTokens": size, "categories": []}))
    }

    pub(super) fn cost(&self) -> f64 {
        self.cost
    }

    /// The usage in a `result`. Also starts the next turn.
    pub(super) fn close_turn(&mut self, model: &str) -> Value {
        let (turn, total) = (std::mem::take(&mut self.turn), self.total);
        let mut by_model = json!({});
        if total.input + total.output > 0 {
            by_model[model] = json!({
                "inputTokens": total.input,
                "outputTokens": total.output,
                "cacheReadInputTokens": 0,
                "cacheCreationInputTokens": 0,
                "webSearchRequests": 0,
                "costUSD": self.cost,
                "contextWindow": self.context_window.unwrap_or(200_000),
                "maxOutputTokens": 32_000,
            });
        }
        self.used(turn, &by_model)
    }

    /// The usage in a `result` of a turn that did nothing.
    pub(super) fn nothing_used(&self) -> Value {
        self.used(Tokens::default(), &json!({}))
    }

    fn used(&self, turn: Tokens, by_model: &Value) -> Value {
        json!({
            "total_cost_usd": self.cost,
            "usage": {
                "input_tokens": turn.input,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens": turn.output,
                "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
                "service_tier": "standard",
            },
            "modelUsage": by_model,
        })
    }
}
