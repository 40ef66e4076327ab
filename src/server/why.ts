import { formatDuration } from '../core/duration.ts'
import { publicId } from '../core/ids.ts'
import type { Lane } from '../core/lane.ts'
import { tierOf } from '../core/lane.ts'
import type { WireWhy, WireWorker } from '../core/views.ts'
import { labelTexts, placementTexts, readPlacement } from '../core/labels.ts'
import { isProcess } from '../core/work.ts'
import type { RunRecord } from '../store/port.ts'

/** What is known about a run's surroundings when somebody asks why. */
export interface Surroundings {
  readonly now: number
  readonly lane: Lane | undefined
  readonly workers: readonly WireWorker[]
  readonly isResting: boolean
}

/** One sentence that says why a run is where it is, and what would change that. Pure. */
/** Everything but what the run says itself. */
type Reason = Omit<WireWhy, 'progress'>

export function explain(run: RunRecord, around: Surroundings): Reason {
  const answer = (sentence: string, details: string[] = [], fixes: string[] = []): Reason => ({
    run: publicId('run', run.id),
    state: run.state,
    sentence,
    details,
    fixes,
  })
  const id = publicId('run', run.id)
  const waited = formatDuration(Math.max(0, around.now - run.createdAt))
  switch (run.state) {
    case 'scheduled': {
      const dueAt = run.dueAt ?? around.now
      const left = formatDuration(Math.max(0, dueAt - around.now))
      if (run.attempt > 1)
        return answer(`It failed and is tried again soon (attempt ${run.attempt}).`)
      return answer(`It is not due yet: it starts in ${left}.`, [], [`punctual cancel ${id}`])
    }
    case 'blocked':
      return answer(`It has waited ${waited} for room: as many as allowed are running.`)
    case 'ready':
      return whyReady(answer, waited, around)
    case 'running': {
      const ran = formatDuration(Math.max(0, around.now - (run.startedAt ?? around.now)))
      const mark = run.cancelling ? ' It was told to stop.' : ''
      return answer(
        `It has been running for ${ran} (attempt ${run.attempt}).${mark}`,
        [],
        [`punctual logs -f ${id}`],
      )
    }
    case 'succeeded':
      return answer('It succeeded.')
    case 'failed': {
      const attempts = run.attempt === 1 ? '' : ` after ${run.attempt} attempts`
      const said = run.message === null ? '' : `: ${run.message}`
      return answer(
        `It failed${attempts}${said}.`,
        [],
        [`punctual logs ${id}`, `punctual retry ${id}`],
      )
    }
    case 'cancelled':
      return answer('It was cancelled.', [], [`punctual retry ${id}`])
    case 'skipped':
      return answer('It was skipped.')
  }
}

type Answer = (sentence: string, details?: string[], fixes?: string[]) => Reason

function whyReady(answer: Answer, waited: string, around: Surroundings): Reason {
  const { lane, workers, isResting } = around
  if (!lane) return answer(`It has waited ${waited} for a worker.`)
  if (isResting) {
    return answer(
      `It has waited ${waited} because the queue ${lane.queue} is paused.`,
      [],
      [`punctual resume --queue ${lane.queue}`],
    )
  }
  const able = workers.filter((worker) => tierOf(offerOf(worker), lane) >= 0)
  if (able.length === 0) {
    const connected = workers.length === 1 ? '1 worker is' : `${workers.length} workers are`
    return answer(
      `It has waited ${waited} for a worker that can run it: ${needs(lane)}.`,
      [`${connected} connected; none fits.`],
      ['punctual worker --server URL' + flagsFor(lane)],
    )
  }
  const free = able.reduce((sum, { slots, running }) => sum + Math.max(0, slots - running), 0)
  const slots = able.reduce((sum, worker) => sum + worker.slots, 0)
  if (free === 0) {
    return answer(
      `It has waited ${waited}: all ${slots} slots of the ${able.length} workers that can run it are taken.`,
      [],
      ['start another worker, or wait'],
    )
  }
  return answer(`It has waited ${waited} and is about to start: ${free} slots are free.`)
}

function offerOf(worker: WireWorker) {
  const { projects, queues, executors, slots } = worker
  const labels = placementTexts(worker)
  return { projects, queues, executors, slots, labels }
}

const DOES: Readonly<Record<string, string>> = {
  http: 'sends requests',
  container: 'runs containers',
}

function needs({ queue, labels, executor, weight }: Lane): string {
  const what =
    DOES[executor] ?? (isProcess(executor) ? `runs ${executor} commands` : `has ${executor}`)
  const where = queue === 'default' ? '' : `, serves the queue ${queue}`
  const asked = readPlacement(labels)
  const carried = labelTexts(asked.labels)
  const which = carried.length === 0 ? '' : `, carries ${carried.join(' and ')}`
  const who = asked.users.length === 0 ? '' : `, allows the user ${asked.users.join(' and ')}`
  const size = weight === 1 ? '' : `, has ${weight} slots`
  const { features } = asked
  const age = features.length === 0 ? '' : `, is new enough for ${features.join(' and ')}`
  return `one that ${what}${where}${which}${who}${size}${age}`
}

function flagsFor({ queue, labels }: Lane): string {
  const queues = queue === 'default' ? '' : ` --queue ${queue}`
  const { labels: carried, users } = readPlacement(labels)
  const flags = [
    ...labelTexts(carried).map((label) => ` --label ${label}`),
    ...users.map((user) => ` --allow-user ${user}`),
  ]
  return queues + flags.join('')
}
