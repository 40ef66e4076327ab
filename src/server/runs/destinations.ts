import { handlerExecutor } from '../../core/worker/handler-names.ts'
import { placementTexts } from '../../core/worker/labels.ts'
import type { LaneSpec } from '../../core/queue/lane.ts'
import type { Submission } from '../../core/wire/protocol.ts'
import { SECRETS_FEATURE } from '../../core/secrets/secret.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'

/** Where runs of one kind go: lane, job and gates. */
export interface RunDestination {
  readonly projectId: number
  readonly jobId: number
  readonly laneId: number
}

/** The destinations of one project. */
export interface ProjectDestinations {
  /** The id of the project, once it is known. */
  readonly projectId: number | undefined
  learnProject(): Promise<number>
  /** One destination per submission; undefined if any of them is unknown. */
  find(submissions: readonly Submission[]): RunDestination[] | undefined
  /** Like `find`, but asks the store for unknown names, once per kind of run. */
  learn(submissions: readonly Submission[]): Promise<RunDestination[]>
}

/**
 * Beyond this a project's destinations are dropped: names are cheap to ask for again, memory is
 * not.
 */
const KINDS = 10_000
const PROJECTS = 1_000

/**
 * Cache of destinations. Most runs go where earlier runs went, so they are placed without waiting
 * for the store.
 */
export function createDestinations(catalog: CatalogCache): {
  of(project: string): ProjectDestinations
} {
  const projects = new Map<string, ProjectDestinations>()
  return {
    of(project) {
      const known = projects.get(project)
      if (known) return known
      if (projects.size >= PROJECTS) projects.clear()
      const fresh = placesOf(project, catalog)
      projects.set(project, fresh)
      return fresh
    },
  }
}

function placesOf(project: string, catalog: CatalogCache): ProjectDestinations {
  const places = new Map<string, RunDestination>()
  let known: number | undefined
  const learnProject = async () => {
    known = await catalog.project(project)
    return known
  }
  return {
    get projectId() {
      return known
    },
    learnProject,

    find(submissions) {
      const found: RunDestination[] = []
      for (const submission of submissions) {
        const place = places.get(placeKey(submission))
        if (!place) return undefined
        found.push(place)
      }
      return found
    },

    async learn(submissions) {
      const keys = submissions.map(placeKey)
      const kinds = new Map(submissions.map((submission, index) => [keys[index], submission]))
      const models = [...kinds.values()]
      const projectId = known ?? (await learnProject())
      const jobIds = await catalog.jobs(
        projectId,
        models.map(({ job }) => job),
      )
      const laneIds = await catalog.lanes(models.map((submission) => laneOf(submission, project)))
      const fresh = new Map<string, RunDestination>()
      for (const [index, model] of models.entries()) {
        const [jobId, laneId] = [jobIds[index] as number, laneIds[index] as number]
        fresh.set(placeKey(model), { projectId, jobId, laneId })
      }
      if (places.size > KINDS) places.clear()
      for (const [key, place] of fresh) places.set(key, place)
      return keys.map((key) => fresh.get(key) as RunDestination)
    },
  }
}

/** Names contain no spaces, so every combination gives its own text. */
function placeKey(submission: Submission): string {
  const { job, queue, task, work, weight, runsOn, secrets } = submission
  if (!queue && !task && !work && weight === undefined && !runsOn && !secrets) return job
  const labels = labelsOf(submission)
  return [job, queue, executorOf(submission), weight, ...labels].join(' ')
}

function labelsOf({ runsOn, work, secrets }: Submission): string[] {
  return placementTexts({
    labels: runsOn?.labels,
    users: work?.run_as === undefined ? [] : [work.run_as],
    features: secrets?.length ? [SECRETS_FEATURE] : [],
  })
}

function executorOf({ job, task, work }: Submission): string {
  return work?.executor ?? handlerExecutor(task ?? job)
}

function laneOf(submission: Submission, project: string): LaneSpec {
  const { queue = 'default', weight = 1 } = submission
  const labels = labelsOf(submission)
  return { project, queue, labels, executor: executorOf(submission), weight }
}
