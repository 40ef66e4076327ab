import { placementTexts } from '../../core/worker/labels.ts'
import type { LaneSpec } from '../../core/queue/lane.ts'
import type { Submission } from '../../core/wire/protocol.ts'
import { SECRETS_FEATURE } from '../../core/work/secret.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'

/** Where runs of one kind go. */
export interface Place {
  readonly projectId: number
  readonly jobId: number
  readonly laneId: number
}

/** The places of one project. */
export interface ProjectPlaces {
  /** The project's own number, once it is known. */
  readonly projectId: number | undefined
  learnProject(): Promise<number>
  /** One for each, at once; undefined when any of them is not known yet. */
  find(submissions: readonly Submission[]): Place[] | undefined
  /** As `find`, after asking the store, once for each kind. */
  learn(submissions: readonly Submission[]): Promise<Place[]>
}

/** Beyond this a project's places are forgotten: names are cheap to ask for again, memory is not. */
const KINDS = 10_000
const PROJECTS = 1_000

/** Most runs go to places that runs went to before: those are found without waiting for anything. */
export function createPlaces(catalog: Catalog): { of(project: string): ProjectPlaces } {
  const projects = new Map<string, ProjectPlaces>()
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

function placesOf(project: string, catalog: Catalog): ProjectPlaces {
  const places = new Map<string, Place>()
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
      const found: Place[] = []
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
      const fresh = new Map<string, Place>()
      for (const [index, model] of models.entries()) {
        const [jobId, laneId] = [jobIds[index] as number, laneIds[index] as number]
        fresh.set(placeKey(model), { projectId, jobId, laneId })
      }
      if (places.size > KINDS) places.clear()
      for (const [key, place] of fresh) places.set(key, place)
      return keys.map((key) => fresh.get(key) as Place)
    },
  }
}

/** Names hold no spaces, so this is one text per combination. */
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
  return work?.executor ?? `handler:${task ?? job}`
}

function laneOf(submission: Submission, project: string): LaneSpec {
  const { queue = 'default', weight = 1 } = submission
  const labels = labelsOf(submission)
  return { project, queue, labels, executor: executorOf(submission), weight }
}
