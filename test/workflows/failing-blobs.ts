import type { TestContext } from 'node:test'
import type { Blobs } from '../../src/blobs/port.ts'
import { createRowBlobs } from '../../src/blobs/store/blobs.ts'
import { openEngine, createStoreOnEngine } from '../../src/store/sqlite/store.ts'

/** Blobs that fail to be read or written where the test says so, selected by parts of their names. */
export interface FailingBlobs extends Blobs {
  readonly onGet: Map<string, Error>
  readonly onPut: Map<string, Error>
  /** Names of the blobs that were read. */
  readonly asked: string[]
}

export function failingBlobs(t: TestContext): FailingBlobs {
  const engine = openEngine({ path: ':memory:' })
  t.after(() => engine.close())
  const rows = createRowBlobs(createStoreOnEngine(engine))
  const onGet = new Map<string, Error>()
  const onPut = new Map<string, Error>()
  const asked: string[] = []
  const meet = (troubles: ReadonlyMap<string, Error>, name: string) => {
    for (const [part, error] of troubles) if (name.includes(part)) throw error
  }
  return {
    ...rows,
    onGet,
    onPut,
    asked,
    async put(name, bytes) {
      meet(onPut, name.label)
      return rows.put(name, bytes)
    },
    async get(key, part) {
      asked.push(key)
      meet(onGet, key)
      return rows.get(key, part)
    },
  }
}
