import type { CatalogStore } from '../../port.ts'
import { ints, texts } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { transact } from '../connection/transaction.ts'

type Gates = Parameters<CatalogStore['internGates']>[0]

const FIND = {
  name: 'find-gates',
  text: `
  SELECT gate.id, capacity, project_id || ' ' || name AS key
    FROM unnest($1::int[], $2::text[]) AS item (project_id, name)
    JOIN gate USING (project_id, name)`,
}
const PUT = {
  name: 'put-gates',
  text: `
  INSERT INTO gate (project_id, name, capacity)
  SELECT * FROM unnest($1::int[], $2::text[], $3::int[])
      ON CONFLICT (project_id, name) DO UPDATE SET capacity = excluded.capacity
  RETURNING id, project_id || ' ' || name AS key`,
}

/** The last write of a capacity wins; an unchanged gate is neither written nor locked. */
export async function internGates(db: Database, gates: Gates): Promise<number[]> {
  if (gates.length === 0) return []
  const wanted = new Map(gates.map((gate) => [keyOf(gate), gate]))
  const sorted = [...wanted].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, gate]) => gate)
  const numbers = await transact(db.duty, async (tx) => {
    const found = await tx.query<{ id: number; capacity: number; key: string }>(FIND, names(sorted))
    const byKey = new Map(found.map((row) => [row.key, row]))
    const changed = sorted.filter((gate) => byKey.get(keyOf(gate))?.capacity !== gate.capacity)
    const put =
      changed.length === 0
        ? []
        : await tx.query<{ id: number; key: string }>(PUT, [
            ...names(changed),
            ints(changed.map(({ capacity }) => capacity)),
          ])
    return new Map([...found, ...put].map(({ key, id }) => [key, id]))
  })
  return gates.map((gate) => numbers.get(keyOf(gate))!)
}

function names(gates: Gates): unknown[] {
  return [ints(gates.map(({ projectId }) => projectId)), texts(gates.map(({ name }) => name))]
}

function keyOf({ projectId, name }: { projectId: number; name: string }): string {
  return `${projectId} ${name}`
}
