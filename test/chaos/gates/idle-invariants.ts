import type { WireWhy } from '../../../src/core/wire/views.ts'
import type { RunSpec } from './run-spec.ts'
import { keyAndHolder } from './why-errors.ts'

/** Runs without any worker: which of them were admitted, and the `why` answer of each. */
export interface IdleAnswers {
  readonly runSpecs: ReadonlyMap<string, RunSpec>
  /** Ready runs: each holds its keys, and no other run may. */
  readonly ready: readonly string[]
  readonly answers: readonly WireWhy[]
}

/** While nothing changes, every answer must be exactly right. */
export function idleInvariants({ runSpecs, ready, answers }: IdleAnswers): string[] {
  const holders = new Map<string, string>()
  const violations: string[] = []
  for (const run of ready) {
    for (const key of runSpecs.get(run)?.keys ?? []) {
      if (holders.has(key)) violations.push(`${holders.get(key)} and ${run} both have ${key}`)
      holders.set(key, run)
    }
  }
  for (const [run, { keys }] of runSpecs) {
    if (!keys.some((key) => holders.has(key)))
      violations.push(`${run} waits although its keys are free`)
  }
  const isReady = new Set(ready)
  for (const why of answers) {
    const { key, holder } = keyAndHolder(why)
    const isRight = isReady.has(why.run)
      ? why.code === 'no_worker' && why.fixes.some((fix) => fix.startsWith('punctual worker'))
      : why.code === 'key_taken' &&
        runSpecs.get(why.run)?.keys.includes(key) &&
        holders.get(key) === holder &&
        why.fixes[0] === `punctual why ${holder}`
    if (!isRight) violations.push(`why ${why.run} answered ${why.code}: ${why.sentence}`)
  }
  return violations
}
