import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PunctualHome } from './punctual-home.ts'
import { waitFor } from './wait-for.ts'

/** A real server in its own process, killed without warning as in a power failure. */
export interface KillableServer {
  call<T>(method: string, path: string, body?: object): Promise<T>
  kill(): Promise<void>
}

/** Starts one in a home directory; the next one there finds the data of the previous one. */
export async function startKillableServer(
  home: PunctualHome,
  ...flags: string[]
): Promise<KillableServer> {
  const { child, output } = home.start(['up', '--port', '0', '--data', home.dataDir, ...flags])
  const url = await waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(`it ended: ${output.err}`)
      return /address +(\S+)[^]*Try:/.exec(output.out)?.[1]
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
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}
