/**
 * Long work that comes to a pause after every small part of it, so that whoever does it can see to
 * others in between.
 */
export type Pausing<Result> = Generator<undefined, Result, undefined>

/** All of it in one go. */
export function withoutPause<Result>(work: Pausing<Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}
