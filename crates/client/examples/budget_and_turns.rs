//! Limits of a session, and the outcome of a turn that reaches one.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use tidings::{AllowAll, Client, Options, Outcome, TurnOutcome};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidings::Error> {
    let options = Options::new().max_turns(1).max_budget_usd(0.50).on_permission(AllowAll);
    let client = Client::connect(options).await?;
    let end = client.send("Read every file.").await?.finish().await?;
    match end.outcome {
        TurnOutcome::Completed => println!("{}", end.text()),
        TurnOutcome::Failed(Outcome::MaxTurns) => println!("one round was not enough"),
        TurnOutcome::Failed(Outcome::MaxBudget) => println!("the budget is spent"),
        other => println!("{other:?}: {}", end.error_text().unwrap_or_default()),
    }
    println!("the cost is reported: {}", end.total_cost_usd().is_some());
    client.close().await?;
    Ok(())
}
