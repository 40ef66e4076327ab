import type { WhyCode, WireWhy } from '../../../src/core/wire/views.ts'
import type { RunSpec } from './run-spec.ts'

/** Possible reasons for each state of a run with concurrency keys. */
const CODES: Readonly<Record<string, readonly WhyCode[]>> = {
  scheduled: ['retry_back_off'],
  blocked: ['key_taken', 'passing'],
  ready: ['no_worker', 'workers_busy', 'starting', 'node_out_of_touch'],
  running: ['running', 'stopping'],
  succeeded: ['succeeded'],
  failed: ['failed'],
  cancelled: ['cancelled'],
}

/** Errors of an answer that was given during the load. */
export function findWhyErrors(why: WireWhy, runSpecs: ReadonlyMap<string, RunSpec>): string[] {
  const errors: string[] = []
  if (!CODES[why.state]?.includes(why.code)) errors.push(`is ${why.state} because of ${why.code}`)
  if (why.code === 'key_taken') errors.push(...findHolderErrors(why, runSpecs))
  return errors.map((error) => `why ${why.run}: it ${error}`)
}

/** For a blocked run: the key it waits at, and the run named as its holder. */
export function keyAndHolder({ sentence, details }: WireWhy) {
  return {
    key: /1 run is allowed at once with the concurrency key (\S+)\.$/.exec(sentence)?.[1] ?? '',
    holder: /^Held by (run_\w+)\.$/.exec(details.join('\n'))?.[1] ?? '',
  }
}

function findHolderErrors(why: WireWhy, runSpecs: ReadonlyMap<string, RunSpec>): string[] {
  const { key, holder } = keyAndHolder(why)
  const errors: string[] = []
  if (!runSpecs.get(why.run)?.keys.includes(key)) errors.push(`waits at "${key}", not its own`)
  if (!runSpecs.get(holder)?.keys.includes(key)) errors.push(`waits for "${holder}" without ${key}`)
  if (holder === why.run) errors.push('waits for itself')
  if (why.fixes[0] !== `punctual why ${holder}`) errors.push(`has the fix ${why.fixes[0]}`)
  return errors
}
