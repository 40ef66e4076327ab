import { formatDuration } from '../../core/text/duration.ts'
import type {
  WireSchedule,
  WireScheduleWhy,
} from '../../core/schedule/definition/schedule-views.ts'

type Because = Pick<WireScheduleWhy, 'code' | 'sentence'> &
  Partial<Pick<WireScheduleWhy, 'details' | 'fixes'>>

/** How long a time may be over before somebody should wonder why nothing became of it. */
const PATIENCE_MS = 10_000

/** Why a schedule fires or does not, and what would change that. Pure. */
export function explainSchedule(
  schedule: WireSchedule,
  { now, mayFire }: { readonly now: number; readonly mayFire: boolean },
): WireScheduleWhy {
  const { code, sentence, details = [], fixes = [] } = reasonOf(schedule, now, mayFire)
  const { job, name, state } = schedule
  return { job, schedule: name, state, code, sentence, details, fixes }
}

function reasonOf(schedule: WireSchedule, now: number, mayFire: boolean): Because {
  const { job, name, state, next, last, words } = schedule
  const named = `${job}/${name}`
  const saysLast = last === null ? [] : [`Its last time was ${last}: punctual history ${named}`]
  switch (state) {
    case 'error':
      return {
        code: 'rule_unreadable',
        sentence: `It does not fire: this server cannot read its rule (${schedule.error}).`,
        details: ['What comes due meanwhile is kept, and dealt with once the rule can be read.'],
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
    const sentence = 'This node is out of touch with its database and fires nothing.'
    return { code: 'out_of_touch', sentence, fixes: ['punctual doctor'] }
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
  const details = [...reason, 'What comes due meanwhile is written down as skipped.']
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
  const skipped = `The time ${skipping} will be skipped, because somebody asked for it.`
  const fixes = [`punctual history ${job}/${name}`]
  return { code: 'skips_next', sentence, details: [skipped, ...details], fixes }
}
