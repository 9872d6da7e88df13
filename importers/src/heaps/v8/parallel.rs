//! Work on the parts of a dump by several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::context::Context;
use crate::error::Stop;

/// Calls `work` for the units 0 to `units` − 1, on as many threads as the user allows. Each thread has a
/// state of its own, from `begin` to `finish`, and takes the units in ascending order.
///
/// # Errors
/// Of all units that fail, the error of the first: the same for any number of threads.
pub(crate) fn for_each_unit<S>(
    context: &Context<'_>,
    units: usize,
    begin: impl Fn() -> Result<S, Stop> + Sync,
    work: impl Fn(&mut S, usize) -> Result<(), Stop> + Sync,
    finish: impl Fn(S) -> Result<(), Stop> + Sync,
) -> Result<(), Stop> {
    let next = AtomicUsize::new(0);
    // The first unit that failed, and why. What begins or finishes badly comes after all units.
    let failed: Mutex<Option<(usize, Stop)>> = Mutex::new(None);
    let fail = |unit: usize, stop: Stop| {
        // No unit begins any more. Relaxed: each unit is taken once whatever the order.
        next.fetch_max(units, Ordering::Relaxed);
        let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.as_ref().is_none_or(|&(first, _)| unit < first) {
            *failed = Some((unit, stop));
        }
    };
    let run = || {
        let mut state = match begin() {
            Ok(state) => state,
            Err(stop) => return fail(units, stop),
        };
        loop {
            let unit = next.fetch_add(1, Ordering::Relaxed);
            if unit >= units {
                break;
            }
            let worked = context.check_cancelled().map_err(Stop::from).and_then(|()| work(&mut state, unit));
            if let Err(stop) = worked {
                return fail(unit, stop);
            }
        }
        finish(state).unwrap_or_else(|stop| fail(units, stop));
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
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), |(_, stop)| Err(stop))
}

/// What `work` answers for the units 0 to `units` − 1, in their order, from as many threads as the user allows.
///
/// # Errors
/// If the user cancels.
pub(crate) fn map_units<T: Send>(
    context: &Context<'_>,
    units: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>, Stop> {
    let answers = Mutex::new(Vec::with_capacity(units));
    let add = |(): &mut (), unit: usize| {
        let answer = work(unit);
        answers.lock().unwrap_or_else(PoisonError::into_inner).push((unit, answer));
        Ok(())
    };
    for_each_unit(context, units, || Ok(()), add, |()| Ok(()))?;
    let mut answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
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
