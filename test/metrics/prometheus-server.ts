import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { skipWithout } from '../support/skip-without.ts'
import type { PunctualHome } from '../support/punctual-home.ts'
import { recordServer } from '../support/servers.ts'
import { waitFor } from '../support/wait-for.ts'

export const skipWithoutPrometheus = skipWithout('prometheus')

export interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [at: number, value: string]
}

/** A private Prometheus that scrapes one server every second. */
export interface PrometheusServer {
  /** The current result of a query. */
  query(text: string): Promise<readonly Sample[]>
}

export async function startPrometheus(
  { dir, atEnd }: PunctualHome,
  { target, token }: { target: string; token: string },
): Promise<PrometheusServer> {
  const home = join(dir, 'prometheus')
  mkdirSync(home)
  writeFileSync(join(home, 'token'), token, { mode: 0o600 })
  const config = join(home, 'prometheus.yml')
  writeFileSync(config, configFor(target, join(home, 'token')))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(home, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const exited = once(child, 'exit')
  atEnd(async () => {
    child.kill('SIGTERM')
    await exited
  })
  await waitFor(async () => (await fetch(`${url}/-/ready`)).ok, {
    what: 'Prometheus to be ready',
    deadlineMs: 60_000,
  })
  recordServer(version())
  return {
    async query(text) {
      const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(text)}`)
      const body = (await answer.json()) as { data: { result: readonly Sample[] } }
      return body.data.result
    },
  }
}

function configFor(target: string, tokenFile: string): string {
  return `global: { scrape_interval: 1s }
scrape_configs:
  - job_name: punctual
    authorization: { credentials_file: ${tokenFile} }
    static_configs: [{ targets: ['${target}'] }]
`
}

function version(): string {
  const { stdout, stderr } = spawnSync('prometheus', ['--version'], { encoding: 'utf8' })
  return `Prometheus ${/version (\S+)/.exec(stdout + stderr)?.[1] ?? ''}`
}
