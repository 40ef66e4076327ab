// `npm run openapi`: writes the API reference that a server serves at /openapi.json into the docs.
import { writeFileSync } from 'node:fs'
import { openScheduler } from '../src/main/scheduler.ts'
import { readVersion } from '../src/main/version.ts'

export const OPENAPI_FILE = new URL('../docs/reference/openapi.json', import.meta.url)

/** The reference of this version, indented for readers. */
export async function readOpenApi(): Promise<string> {
  const scheduler = await openScheduler({ store: 'sqlite::memory:', version: readVersion() })
  try {
    const url = await scheduler.listen({ host: '127.0.0.1', port: 0 })
    const answer = await fetch(`${url}/openapi.json`)
    return `${JSON.stringify(await answer.json(), null, 2)}\n`
  } finally {
    await scheduler.stop()
  }
}

if (import.meta.main) writeFileSync(OPENAPI_FILE, await readOpenApi())
