import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PunctualHome } from './punctual-home.ts'
import { waitFor } from './wait-for.ts'

/** A real server of its own process, which goes as when the power fails. */
export interface KillableServer {
  call<T>(method: string, path: string, body?: object): Promise<T>
  kill(): Promise<void>
}

/** Starts one in a home; the next one there finds what the last one left. */
export async function startKillable(
  home: PunctualHome,
  ...flags: string[]
): Promise<KillableServer> {
  const { child, said } = home.start(['up', '--port', '0', '--data', home.dataDir, ...flags])
  const url = await waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(`it ended: ${said.err}`)
      return /address +(\S+)[^]*Try:/.exec(said.out)?.[1]
    },
    { what: 'a server to be up', deadlineMs: 60_000 },
  )
  const token = readFileSync(join(home.dataDir, 'admin-token'), 'utf8').trim()
  return {
    async call(method, path, body) {
      const answer = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      assert.ok(answer.ok, `${method} ${path} gave ${answer.status}`)
      return (await answer.json()) as never
    },
    async kill() {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}
