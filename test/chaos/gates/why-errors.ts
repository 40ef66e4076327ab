import type { WhyCode, WireWhy } from '../../../src/core/wire/views.ts'
import type { Errand } from './run-spec.ts'

/** Reasons that can be given for each state of a run with concurrency keys. */
const CODES: Readonly<Record<string, readonly WhyCode[]>> = {
  scheduled: ['retry_back_off'],
  blocked: ['key_taken', 'passing'],
  ready: ['no_worker', 'workers_busy', 'starting', 'node_out_of_touch'],
  running: ['running', 'stopping'],
  succeeded: ['succeeded'],
  failed: ['failed'],
  cancelled: ['cancelled'],
}

/** What is wrong with an answer that was given while everything moved on. */
export function doubtsAbout(why: WireWhy, errands: ReadonlyMap<string, Errand>): string[] {
  const doubts: string[] = []
  if (!CODES[why.state]?.includes(why.code)) doubts.push(`is ${why.state} because of ${why.code}`)
  if (why.code === 'key_taken') doubts.push(...doubtsAboutHolder(why, errands))
  return doubts.map((doubt) => `why ${why.run}: it ${doubt}`)
}

/** Of a blocked run: the key it waits at, and the only run that can hold it. */
export function keyAndHolder({ sentence, details }: WireWhy) {
  return {
    key: /1 run is allowed at once with the concurrency key (\S+)\.$/.exec(sentence)?.[1] ?? '',
    holder: /^Held by (run_\w+)\.$/.exec(details.join('\n'))?.[1] ?? '',
  }
}

function doubtsAboutHolder(why: WireWhy, errands: ReadonlyMap<string, Errand>): string[] {
  const { key, holder } = keyAndHolder(why)
  const doubts: string[] = []
  if (!errands.get(why.run)?.keys.includes(key)) doubts.push(`waits at "${key}", not its own`)
  if (!errands.get(holder)?.keys.includes(key)) doubts.push(`waits for "${holder}" without ${key}`)
  if (holder === why.run) doubts.push('waits for itself')
  if (why.fixes[0] !== `punctual why ${holder}`) doubts.push(`has the fix ${why.fixes[0]}`)
  return doubts
}
