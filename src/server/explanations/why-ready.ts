import { formatDuration } from '../../core/text/duration.ts'
import { WORKFLOW_EXECUTOR } from '../../core/work/workflow-work.ts'
import { handlersIn } from '../../core/worker/handler-names.ts'
import { labelTexts, placementTexts, readPlacement } from '../../core/worker/labels.ts'
import { type Lane, tierOf } from '../../core/queue/lane.ts'
import { formatRate, nextStartAt } from '../../core/queue/rate.ts'
import type { WireWorker } from '../../core/wire/views.ts'
import { isProcess } from '../../core/work/work.ts'
import type { Reason, RunContext } from './why-run.ts'

/** Where counting stops. */
export const MOST_AHEAD = 1_000

/** Why a ready run does not start: the first obstacle, in the order a worker would meet them. */
export function whyReady(waited: string, context: RunContext): Reason {
  const { lane, workers, mayPromise, paused } = context
  const since = `It has waited ${waited}`
  if (!mayPromise) {
    return {
      code: 'node_out_of_touch',
      sentence: `${since}: this node has no contact with its database and assigns no runs.`,
      fixes: ['punctual doctor'],
    }
  }
  if (!lane) return { code: 'starting', sentence: `${since} for a worker.` }
  if (paused === 'project') {
    const sentence = `${since} because all queues of the project are paused.`
    return { code: 'project_paused', sentence, fixes: ['punctual resume --all'] }
  }
  if (paused === 'queue') {
    const sentence = `${since} because the queue ${lane.queue} is paused.`
    return { code: 'queue_paused', sentence, fixes: [`punctual resume --queue ${lane.queue}`] }
  }
  if (lane.executor === WORKFLOW_EXECUTOR) {
    return { code: 'starting', sentence: `${since} and is about to begin.` }
  }
  const able = workers.filter((worker) => tierOf(offerOf(worker), lane) >= 0)
  if (able.length === 0) return whyNoWorker(since, lane, workers)
  const fit = able.filter(({ state }) => state === 'active')
  if (fit.length === 0) return whyQuarantined(since, able)
  return whyLimited(since, context, lane) ?? whyBusy(since, context, lane, fit)
}

function whyNoWorker(since: string, lane: Lane, workers: readonly WireWorker[]): Reason {
  const fixes = [workerFor(lane)]
  if (workers.length === 0) {
    const sentence = `${since}: no worker is connected that serves this project.`
    return { code: 'no_worker', sentence, fixes }
  }
  const lacking = needsOf(lane).filter(({ isMet }) => !workers.some(isMet))
  const what = lacking.length > 0 ? lacking : needsOf(lane)
  const connected = workers.length === 1 ? '1 worker is' : `${workers.length} workers are`
  return {
    code: 'no_fitting_worker',
    sentence: `${since} for a worker that ${what.map(({ text }) => text).join(', ')}.`,
    details: [
      lacking.length > 0
        ? `${connected} connected; none does.`
        : `${connected} connected; none has all of it.`,
    ],
    fixes,
  }
}

function whyQuarantined(since: string, able: readonly WireWorker[]): Reason {
  const [all, verbs] =
    able.length === 1
      ? ['the only worker', 'is quarantined and takes']
      : [`all ${able.length} workers`, 'are quarantined and take']
  return {
    code: 'workers_quarantined',
    sentence: `${since}: ${all} that could run it ${verbs} no work.`,
    details: able.slice(0, 3).map(({ name, reason }) => `${name}: ${reason}`),
    fixes: ['fix the worker, or start another'],
  }
}

function whyLimited(since: string, { now, rate, wait }: RunContext, lane: Lane): Reason | null {
  if (!rate) return null
  const next = nextStartAt(rate.rate, rate.bucket, now)
  if (next <= now) return null
  const { limit, perMs } = rate.rate
  const ahead = wait?.ahead ?? 0
  const own = next - now + Math.ceil((ahead * perMs) / limit)
  return {
    code: 'rate_limited',
    sentence: `${since}: the queue ${lane.queue} starts at most ${formatRate(rate.rate)}.`,
    details: [
      `The next may start in ${formatDuration(next - now)}.`,
      ...(ahead > 0 ? [`${before(ahead)}: about ${formatDuration(own)} for this one.`] : []),
    ],
    fixes: [`punctual queue set ${lane.queue} --rate …`],
  }
}

function whyBusy(
  since: string,
  { wait, isSlotReserved }: RunContext,
  { weight }: Lane,
  fit: readonly WireWorker[],
): Reason {
  const ahead = wait?.ahead ?? 0
  const line = ahead > 0 ? [`${before(ahead)}.`] : []
  const most = Math.max(...fit.map(({ slots, used }) => slots - used))
  const slots = fit.reduce((sum, worker) => sum + worker.slots, 0)
  const fixes = ['start another worker, or wait']
  if (most <= 0) {
    const whose =
      fit.length === 1 ? 'the worker that can run it' : `the ${fit.length} workers that can run it`
    const sentence = `${since}: all ${slots} slots of ${whose} are taken.`
    return { code: 'workers_busy', sentence, details: line, fixes }
  }
  if (most < weight) {
    const sentence = `${since}: it needs ${weight} free slots of one worker, and none has more than ${most}.`
    return { code: 'workers_busy', sentence, details: line, fixes }
  }
  if (isSlotReserved) {
    const sentence = `${since}: free slots are kept for a heavier run whose turn it is.`
    return { code: 'workers_busy', sentence, details: line, fixes }
  }
  const sentence = `${since} and is about to start: a worker has ${most} free slots.`
  return { code: 'starting', sentence, details: line }
}

function before(ahead: number): string {
  const count = ahead >= MOST_AHEAD ? `${MOST_AHEAD} or more` : String(ahead)
  return ahead === 1
    ? '1 run with the same needs is before it'
    : `${count} runs with the same needs are before it`
}

function offerOf(worker: WireWorker) {
  const { projects, queues, executors, slots } = worker
  const labels = placementTexts(worker)
  return { projects, queues, executors, slots, labels }
}

interface Need {
  readonly text: string
  isMet(worker: WireWorker): boolean
}

const REQUIREMENT_TEXTS: Readonly<Record<string, string>> = {
  http: 'sends requests',
  container: 'runs containers',
}

function handlerOf(executor: string): string {
  const [handler] = handlersIn([executor])
  return handler === undefined ? executor : `the handler ${handler}`
}

/** What the run requires of a worker, one requirement after the other. */
function needsOf({ queue, labels, executor, weight }: Lane): Need[] {
  const asked = readPlacement(labels)
  const what =
    REQUIREMENT_TEXTS[executor] ??
    (isProcess(executor) ? `runs ${executor} commands` : `has ${handlerOf(executor)}`)
  return [
    { text: what, isMet: ({ executors }) => executors.includes(executor) },
    { text: `serves the queue ${queue}`, isMet: ({ queues }) => queues.includes(queue) },
    ...labelTexts(asked.labels).map((label) => ({
      text: `carries ${label}`,
      isMet: (worker: WireWorker) => labelTexts(worker.labels).includes(label),
    })),
    ...asked.users.map((user) => ({
      text: `allows the user ${user}`,
      isMet: ({ users }: WireWorker) => users.includes(user),
    })),
    ...asked.features.map((feature) => ({
      text: `is new enough for ${feature}`,
      isMet: ({ features }: WireWorker) => features.includes(feature),
    })),
    ...(weight === 1
      ? []
      : [{ text: `has ${weight} slots`, isMet: ({ slots }: WireWorker) => slots >= weight }]),
  ]
}

/** The project of requests that name none. */
const DEFAULT_PROJECT = 'default'

/** A command that starts a suitable worker; the command line cannot provide handlers. */
function workerFor(lane: Lane): string {
  const [handler] = handlersIn([lane.executor])
  if (handler === undefined) return `punctual worker --server URL${flagsFor(lane)}`
  const needs = needsOf(lane).filter(({ text }) => text !== SERVES_DEFAULT)
  const project = lane.project === DEFAULT_PROJECT ? '' : ` of the project ${lane.project}`
  return `start a worker${project} that ${needs.map(({ text }) => text).join(', ')}`
}

/** The default of workers that name no queue. */
const SERVES_DEFAULT = 'serves the queue default'

function flagsFor({ project, queue, labels, weight }: Lane): string {
  const projects = project === DEFAULT_PROJECT ? '' : ` --project ${project}`
  const queues = queue === 'default' ? '' : ` --queue ${queue}`
  const { labels: carried, users } = readPlacement(labels)
  const flags = [
    ...labelTexts(carried).map((label) => ` --label ${label}`),
    ...users.map((user) => ` --allow-user ${user}`),
    ...(weight > 10 ? [` --slots ${weight}`] : []),
  ]
  return projects + queues + flags.join('')
}
