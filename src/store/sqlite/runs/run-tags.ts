import type { Database } from 'better-sqlite3'
import { tagPairs } from '../../tag-pairs.ts'

export const ADD_TAG = `
  INSERT INTO run_tag (project_id, name, value, run_id) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`
export const DELETE_TAG = `
  DELETE FROM run_tag WHERE project_id = ? AND name = ? AND value = ? AND run_id = ?`
export const TAGS_OF = `SELECT project_id AS projectId, tags FROM run WHERE id = ? AND tags IS NOT NULL`

interface TaggedRun {
  readonly id: number
  readonly projectId: number
  readonly tags: string | null
}

/** Index of runs by tag. A run without tags costs nothing here. */
export interface RunTags {
  add(run: TaggedRun): void
  /** Call it while the run row still exists. */
  remove(runId: number): void
}

export function prepareRunTags(db: Database): RunTags {
  const add = db.prepare<[number, string, string, number]>(ADD_TAG)
  const remove = db.prepare<[number, string, string, number]>(DELETE_TAG)
  const tagsOf = db.prepare<[number], Omit<TaggedRun, 'id'>>(TAGS_OF)
  return {
    add({ id, projectId, tags }) {
      for (const [name, value] of tagPairs(tags)) add.run(projectId, name, value, id)
    },
    remove(runId) {
      const run = tagsOf.get(runId)
      if (!run) return
      for (const [name, value] of tagPairs(run.tags)) remove.run(run.projectId, name, value, runId)
    },
  }
}
