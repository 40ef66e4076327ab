import { formatDuration } from '../../../core/text/duration.ts'
import type {
  WireSchedule,
  WireScheduleWhy,
} from '../../../core/schedule/definition/schedule-views.ts'

type Because = Pick<WireScheduleWhy, 'code' | 'sentence'> &
  Partial<Pick<WireScheduleWhy, 'details' | 'fixes'>>

/** How long after a time a missing outcome is unusual. */
const PATIENCE_MS = 10_000

/** Why a schedule fires or does not, and what would change that. Pure. */
export function explainSchedule(
  schedule: WireSchedule,
  asOf: {
    readonly now: number
    readonly mayFire: boolean
    /** Why the wall clock holds schedules, if it does. */
    readonly clockHeld: string | null
    /** Why no run could be made at its last time, if that is so. */
    readonly lastRefusal?: string | null
  },
): WireScheduleWhy {
  const { code, sentence, details = [], fixes = [] } = reasonOf(schedule, asOf)
  const { job, name, state } = schedule
  return { job, schedule: name, state, code, sentence, details, fixes }
}

function reasonOf(
  schedule: WireSchedule,
  { now, mayFire, clockHeld, lastRefusal = null }: Parameters<typeof explainSchedule>[1],
): Because {
  const { job, name, state, next, last, words } = schedule
  const named = `${job}/${name}`
  const saysLast = [
    ...(lastRefusal === null ? [] : [`No run could be made at its last time: ${lastRefusal}`]),
    ...(last === null ? [] : [`Its last time was ${last}: punctual history ${named}`]),
  ]
  switch (state) {
    case 'error':
      return {
        code: 'rule_unreadable',
        sentence: `It does not fire: this server cannot read its rule (${schedule.error}).`,
        details: ['Due times are kept and handled once the rule can be read.'],
        fixes: [
          `punctual api PUT /v1/jobs/${job}/schedules/${name} -d …`,
          'update the server’s zones',
        ],
      }
    case 'paused':
      return whyPaused(schedule, now)
    case 'ended':
      return {
        code: 'ended',
        sentence: `It does not fire any more: ${words} is over.`,
        details: saysLast,
        fixes: [`punctual run ${job}`],
      }
    case 'active':
      break
  }
  if (!mayFire) {
    const sentence = 'This node has no contact with its database and fires nothing.'
    return { code: 'out_of_touch', sentence, fixes: ['punctual doctor'] }
  }
  if (clockHeld !== null) {
    const sentence = `It does not fire at the moment: ${clockHeld}.`
    const kept = 'What comes due meanwhile is kept, and dealt with once the clock is trusted.'
    return {
      code: 'clock_held',
      sentence,
      details: [kept, ...saysLast],
      fixes: ['punctual doctor'],
    }
  }
  if (next === null) {
    const sentence = `It waits for its run to end: ${words}.`
    return { code: 'follows_run', sentence, fixes: [`punctual why ${job}@last`] }
  }
  return whyActive(schedule, Date.parse(next), now, saysLast)
}

function whyPaused({ job, name, paused }: WireSchedule, now: number): Because {
  const since = formatDuration(Math.max(0, now - Date.parse(paused?.since ?? '')))
  const until = paused?.until ? ` until ${paused.until}` : ''
  const reason = paused?.reason ? [`The reason given: ${paused.reason}`] : []
  const details = [...reason, 'Times during the pause are recorded as skipped.']
  if (paused?.by_job) {
    const sentence = `It does not fire because the job ${job} has been paused for ${since}.`
    return { code: 'job_paused', sentence, details, fixes: [`punctual resume ${job}`] }
  }
  const sentence = `It does not fire: it has been paused for ${since}${until}.`
  return { code: 'paused', sentence, details, fixes: [`punctual resume ${job}/${name}`] }
}

function whyActive(
  { job, name, words, skipping }: WireSchedule,
  next: number,
  now: number,
  details: readonly string[],
): Because {
  if (next + PATIENCE_MS < now) {
    const sentence = `It should have fired ${formatDuration(now - next)} ago and is about to.`
    return { code: 'due', sentence, details, fixes: ['punctual doctor'] }
  }
  const left = formatDuration(Math.max(0, next - now))
  const sentence = `It fires next in ${left}: ${words}.`
  if (skipping === null) return { code: 'fires', sentence, details }
  const skipped = `The time ${skipping} will be skipped, because a user asked for it.`
  const fixes = [`punctual history ${job}/${name}`]
  return { code: 'skips_next', sentence, details: [skipped, ...details], fixes }
}
