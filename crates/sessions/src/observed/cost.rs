//! Cost and model of observed sessions, from the tokens in their files.

use tidings_transcript::cost::{Prices, RunningCost};

use crate::live_session::{Change, LiveSession};
use crate::settings::SessionSettings;

/// The cost of the entries that processes outside of this server wrote.
#[derive(Debug)]
pub(super) struct ObservedCost {
    cost: RunningCost,
    prices: Prices,
    /// The model of the newest response.
    model: Option<String>,
    has_changed: bool,
}

impl Default for ObservedCost {
    fn default() -> Self {
        ObservedCost {
            cost: RunningCost::default(),
            prices: Prices::built_in(),
            model: None,
            has_changed: false,
        }
    }
}

impl ObservedCost {
    /// Counts an entry. The model of one that is stored may have been changed since.
    pub(super) fn add(&mut self, line: &[u8], is_stored: bool) {
        let Some(model) = self.cost.add(line) else { return };
        self.has_changed = true;
        if !is_stored {
            self.model = Some(model);
        }
    }

    /// Stores the sum, if it has changed. Turns of this server's own agents count as their agents report.
    pub(super) async fn store(&mut self, entry: &LiveSession) {
        if !std::mem::take(&mut self.has_changed) {
            return;
        }
        let sum = self.cost.sum(&self.prices);
        let (dollars, is_incomplete) = (sum.money.dollars(), sum.unpriced > 0);
        let model = self.model.take();
        let count = |settings: &mut SessionSettings, _: &_| {
            settings.totals.cost_usd = (settings.totals.cost_usd - settings.observed_cost).max(0.0) + dollars;
            settings.totals.cost_incomplete = is_incomplete;
            settings.observed_cost = dollars;
            settings.launch.model = model.or(settings.launch.model.take());
            Ok(Change::default())
        };
        if let Err(error) = entry.change(count).await {
            tracing::warn!(session = %entry.key, %error, "failed to store the cost of an observed session");
        }
    }
}
