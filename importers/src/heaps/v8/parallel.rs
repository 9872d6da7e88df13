//! Work on the parts of a dump by several threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::context::Context;
use crate::error::Stop;

/// Calls `work` for the units 0 to `units` − 1, on the number of threads set by the user. Each thread has a state of
/// its own, from `begin` to `finish`, and takes the units in ascending order.
///
/// # Errors
/// The error of the first of all units that fail: the same for any number of threads.
pub(crate) fn for_each_unit<S>(
    context: &Context<'_>,
    units: usize,
    begin: impl Fn() -> Result<S, Stop> + Sync,
    work: impl Fn(&mut S, usize) -> Result<(), Stop> + Sync,
    finish: impl Fn(S) -> Result<(), Stop> + Sync,
) -> Result<(), Stop> {
    let queue = Queue { units, next: AtomicUsize::new(0), failed: Mutex::new(None) };
    let run = || {
        let mut state = match begin() {
            Ok(state) => state,
            Err(stop) => return queue.fail(units, stop),
        };
        loop {
            let unit = queue.next.fetch_add(1, Ordering::Relaxed);
            if unit >= units {
                break;
            }
            let worked = context.check_cancelled().map_err(Stop::from).and_then(|()| work(&mut state, unit));
            if let Err(stop) = worked {
                return queue.fail(unit, stop);
            }
        }
        finish(state).unwrap_or_else(|stop| queue.fail(units, stop));
    };
    let threads = context.options.threads.get().min(units);
    if threads <= 1 {
        run();
    } else {
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(run);
            }
            run();
        });
    }
    queue.failed.into_inner().map_or(Ok(()), |(_, stop)| Err(stop))
}

/// The units that threads take.
struct Queue {
    units: usize,
    next: AtomicUsize,
    /// The first unit that failed, with its error. Errors of `begin` and `finish` come after all units.
    failed: Mutex<Option<(usize, Stop)>>,
}

impl Queue {
    fn fail(&self, unit: usize, stop: Stop) {
        // No further unit begins. Relaxed: each unit is taken once in any order.
        self.next.fetch_max(self.units, Ordering::Relaxed);
        let mut failed = self.failed.lock();
        if failed.as_ref().is_none_or(|&(first, _)| unit < first) {
            *failed = Some((unit, stop));
        }
    }
}

/// The results of `work` for the units 0 to `units` − 1, in their order, on the number of threads set by the user.
///
/// # Errors
/// If the user cancels.
pub(crate) fn map_units<T: Send>(
    context: &Context<'_>,
    units: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>, Stop> {
    let answers = Mutex::new(Vec::with_capacity(units));
    for_each_unit(
        context,
        units,
        || Ok(()),
        |(), unit| {
            let answer = work(unit);
            answers.lock().push((unit, answer));
            Ok(())
        },
        |()| Ok(()),
    )?;
    let mut answers = answers.into_inner();
    answers.sort_unstable_by_key(|&(unit, _)| unit);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::with_context;
    use crate::error::Damage;
    use std::num::NonZero;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn every_unit_is_worked_on_once_and_the_first_error_counts() {
        for threads in [1, 2, 8] {
            with_context(|context| {
                let options =
                    crate::ImportOptions { threads: NonZero::new(threads).expect("not 0"), ..context.options.clone() };
                let context = &Context { options: &options, ..context.clone() };
                let sum = AtomicU64::new(0);
                let add = |state: &mut u64, unit: usize| {
                    *state += unit as u64;
                    Ok(())
                };
                let finish = |state| {
                    sum.fetch_add(state, Ordering::Relaxed);
                    Ok(())
                };
                for_each_unit(context, 1000, || Ok(0), add, finish).expect("no failure");
                assert_eq!(sum.load(Ordering::Relaxed), 499_500);

                let fails = |(): &mut (), unit: usize| match unit {
                    7..=9 => Err(Damage::Ends { length: unit as u64, inside: "a unit" }.into()),
                    _ => Ok(()),
                };
                let failed = for_each_unit(context, 20, || Ok(()), fails, |()| Ok(()));
                assert!(matches!(failed, Err(Stop::Damage(Damage::Ends { length: 7, .. }, None))), "{failed:?}");
            });
        }
    }
}
