/** Long work that yields after every small part, so that the caller can do other work in between. */
export type Pausing<Result> = Generator<undefined, Result, undefined>

/** Runs the work to its end without pauses. */
export function runWithoutPauses<Result>(work: Pausing<Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}
