import type { Lane, LaneSpec } from '../../core/queue/lane.ts'

/** Names mapped to numeric ids. */
export interface CatalogStore {
  internProjects(names: readonly string[]): Promise<readonly number[]>
  /** Looks the project up without creating it. */
  findProject(name: string): Promise<number | null>
  findJob(input: { projectId: number; name: string }): Promise<number | null>
  internJobs(jobs: readonly { projectId: number; name: string }[]): Promise<readonly number[]>
  /** Fails with `too_many_lanes` when a project would exceed its share. */
  internLanes(specs: readonly LaneSpec[]): Promise<readonly number[]>
  /** Creates gates or updates their capacity: the last write wins. */
  internGates(
    gates: readonly { projectId: number; name: string; capacity: number }[],
  ): Promise<readonly number[]>
  /** Lanes with an id above `after`, so that a node learns of lanes that other nodes created. */
  lanesAfter(after: number): Promise<readonly Lane[]>
  jobNames(ids: readonly number[]): Promise<ReadonlyMap<number, string>>
  projectNames(ids: readonly number[]): Promise<ReadonlyMap<number, string>>
}
