import type { NewRun } from '../../port.ts'
import { tagPairs } from '../../tag-pairs.ts'
import { bigints, ints, texts } from '../connection/binary-arrays.ts'
import { reportedElsewhere, type Queryable } from '../connection/statement.ts'

/** Only for runs that this node minted: an id of another node's run gets none of these tags. */
export const ADD_TAGS = {
  name: 'add-tags',
  text: `
  INSERT INTO run_tag (project_id, name, value, run_id)
  SELECT tag.project_id, tag.name, tag.value, tag.run_id
    FROM unnest($2::int[], $3::text[], $4::text[], $5::bigint[])
      AS tag (project_id, name, value, run_id)
   CROSS JOIN LATERAL (SELECT minted_by FROM run WHERE run.id = tag.run_id LIMIT 1) run
   WHERE run.minted_by = $1::int
  ON CONFLICT DO NOTHING`,
}

/** The index of runs by tag. Batches without tags send nothing. */
export function addTags(tx: Queryable, node: number, runs: readonly NewRun[]): void {
  const rows = runs.flatMap(({ id, projectId, tags }) =>
    tagPairs(tags).map(([name, value]) => ({ id, projectId, name, value })),
  )
  if (rows.length === 0) return
  const values = [
    node,
    ints(rows.map((row) => row.projectId)),
    texts(rows.map((row) => row.name)),
    texts(rows.map((row) => row.value)),
    bigints(rows.map((row) => row.id)),
  ]
  void reportedElsewhere(tx.query(ADD_TAGS, values))
}
