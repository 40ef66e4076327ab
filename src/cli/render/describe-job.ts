import { formatDuration } from '../../core/text/duration.ts'
import type { WireJob } from '../../core/job/job-views.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import { hangingIndent } from '../terminal/hanging-indent.ts'
import { distance, instantIn } from './show-time.ts'
import { harmless, paint, showState, type Terminal } from '../terminal/terminal.ts'
import { summarizeJob } from './summarize-job.ts'
import { describeTriggers } from './describe-triggers.ts'

/** The job's definition, its schedules and its latest runs. */
export function describeJob(terminal: Terminal, job: WireJob, runs: readonly WireRun[]): string {
  const { definition, name, version, updated_at, updated_by, paused, schedules = [] } = job
  const facts: [string, string | undefined][] = [
    ['title', definition.title],
    ['state', paused ? `paused${paused.reason ? `: ${paused.reason}` : ''}` : 'on'],
    ['does', summarizeJob(definition, name)],
    ['version', `v${version}, ${ago(updated_at, terminal)} by ${updated_by}`],
    ['queue', definition.queue],
    ['timeout', definition.timeout],
    ['owner', definition.owner],
    ['about', definition.description],
    ['source', definition.source],
    ...schedules.map((one): [string, string] => [one.name, whenOf(one, terminal)]),
    ...describeTriggers(definition).map((text): [string, string] => ['runs', text]),
    ['followed by', job.followers?.join(', ') || undefined],
  ]
  const lines = facts.flatMap(([label, value]) =>
    value === undefined ? [] : hangingIndent(terminal, `  ${label.padEnd(11)} `, value),
  )
  return [paint(terminal, 'bold', name), ...lines, ...lately(terminal, name, runs), ''].join('\n')
}

function whenOf(
  { words, state, next }: NonNullable<WireJob['schedules']>[number],
  terminal: Terminal,
) {
  if (state !== 'active') return `${words} (${state})`
  if (next === null) return words
  const now = terminal.now()
  return `${words}; next ${instantIn(next, terminal.zone, now)}, ${distance(next, now)}`
}

function lately(terminal: Terminal, name: string, runs: readonly WireRun[]): string[] {
  if (runs.length === 0) return [`  no runs yet; start one: punctual run ${name}`]
  const lines = runs.map(({ id, state, created_at, message }) => {
    const suffix = state === 'failed' && message !== null ? `  ${harmless(message)}` : ''
    return `    ${id}  ${showState(terminal, state)}  ${ago(created_at, terminal)}${suffix}`
  })
  return ['  last runs', ...lines]
}

function ago(time: string, terminal: Terminal): string {
  return `${formatDuration(Math.max(0, terminal.now() - Date.parse(time)))} ago`
}
