//! P1: readers that disconnect and resume, compared with a plain list of events.
//!
//! `TIDINGS_SOAK_CASES` sets the number of cases; `make soak` sets it.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use engines::{Memory, Sqlite};
use model::{World, steps};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, TestRunner};

use crate::{engines, model};

fn check<E: tidings_journal::conformance::Engine>(cases: u32, engine: impl Fn() -> E) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
    let outcome = TestRunner::new(config).run(&steps(), |steps| {
        runtime.block_on(async {
            let mut engine = engine();
            let mut world = World::new(&mut engine).await;
            for step in steps {
                world.take(step).await?;
            }
            world.everybody_catches_up().await
        })
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

fn cases(normal: u32) -> u32 {
    let cases = std::env::var("TIDINGS_SOAK_CASES").ok();
    cases.map_or(normal, |cases| cases.parse().expect("TIDINGS_SOAK_CASES is a number"))
}

#[test]
fn promise_1_no_reader_of_memory_loses_repeats_or_reorders() {
    check(cases(500), Memory::default);
}

#[test]
fn promise_1_no_reader_of_a_file_loses_repeats_or_reorders() {
    // Each case opens a few files and syncs them, so there are fewer cases.
    check(cases(50 * 16) / 16, Sqlite::new);
}

/// The model is useful only if it reaches the failure cases.
#[test]
fn the_model_meets_gaps_resets_and_restarts() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut runner = TestRunner::deterministic();
    let mut coverage = model::Coverage::default();
    for _ in 0..200 {
        let steps = steps().new_tree(&mut runner).unwrap().current();
        runtime.block_on(async {
            let mut engine = Memory::default();
            let mut world = World::new(&mut engine).await;
            for step in steps {
                world.take(step).await.unwrap();
            }
            coverage.add(&world.coverage);
        });
    }
    assert!(
        coverage.gaps > 20 && coverage.resets > 20 && coverage.epochs > 20 && coverage.live > 100,
        "{coverage:?}"
    );
}
