import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { PunctualError } from '../core/errors.ts'
import { adminToken } from './admin-token.ts'
import { openScheduler } from './scheduler.ts'
import { readSettings } from './settings.ts'

const EX_CONFIG = 78

async function main(): Promise<void> {
  const settings = readSettings(process.argv.slice(2), process.env)
  await mkdir(settings.dataDir, { recursive: true, mode: 0o700 })
  const { token, path } = await adminToken(settings.dataDir)
  const scheduler = await openScheduler({
    store: settings.store,
    rootToken: token,
    onError: (error) => console.error(`punctual: ${describe(error)}`),
    onFatal(error) {
      console.error(`punctual: the store failed and cannot be trusted: ${describe(error)}`)
      // At once and without goodbyes: closing files would sync them again, and that lied already.
      process.kill(process.pid, 'SIGKILL')
    },
  })
  const address = await scheduler.listen({
    host: settings.host,
    port: settings.port,
  })

  let stopping = false
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1)
    stopping = true
    console.log(`punctual: ${signal}, stopping (once more to stop at once)`)
    scheduler.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)

  console.log(`Punctual is ready.

  address  ${address}
  data     ${resolve(settings.dataDir)}  (${scheduler.storeVersion})
  token    ${resolve(path)}

Try:
  curl -H "Authorization: Bearer $(cat ${path})" ${address}/v1/runs
`)
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

main().catch((error: unknown) => {
  const isConfig = error instanceof PunctualError
  console.error(`punctual: ${describe(error)}${isConfig ? `\n  ${error.hint}` : ''}`)
  process.exit(isConfig ? EX_CONFIG : 1)
})
