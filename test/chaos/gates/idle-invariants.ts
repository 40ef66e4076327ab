import type { WireWhy } from '../../../src/core/wire/views.ts'
import type { Errand } from './run-spec.ts'
import { keyAndHolder } from './why-errors.ts'

/** A crowd that nobody serves yet: who was let in, and what each of them was told. */
export interface QuietScene {
  readonly errands: ReadonlyMap<string, Errand>
  /** Runs that stand in line: each holds its keys, and no other run may. */
  readonly ready: readonly string[]
  readonly answers: readonly WireWhy[]
}

/** While nothing moves, every answer has to be exactly right. */
export function quietLaws({ errands, ready, answers }: QuietScene): string[] {
  const holders = new Map<string, string>()
  const violations: string[] = []
  for (const run of ready) {
    for (const key of errands.get(run)?.keys ?? []) {
      if (holders.has(key)) violations.push(`${holders.get(key)} and ${run} both have ${key}`)
      holders.set(key, run)
    }
  }
  for (const [run, { keys }] of errands) {
    if (!keys.some((key) => holders.has(key))) violations.push(`${run} waits for nobody`)
  }
  const isReady = new Set(ready)
  for (const why of answers) {
    const { key, holder } = keyAndHolder(why)
    const isRight = isReady.has(why.run)
      ? why.code === 'no_worker' && why.fixes.some((fix) => fix.startsWith('punctual worker'))
      : why.code === 'key_taken' &&
        errands.get(why.run)?.keys.includes(key) &&
        holders.get(key) === holder &&
        why.fixes[0] === `punctual why ${holder}`
    if (!isRight) violations.push(`why ${why.run} said ${why.code}: ${why.sentence}`)
  }
  return violations
}
