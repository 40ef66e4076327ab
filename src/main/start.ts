import { parseArgs } from 'node:util'
import { PunctualError } from '../core/errors.ts'
import { serve } from './serve.ts'
import { readSettings } from './settings.ts'
import { createSystemTerminal } from './system-terminal.ts'
import { readVersion } from './version.ts'

const EX_CONFIG = 78

/** `npm start`: what `punctual up` does, without the rest of the command line in memory. */
async function main(): Promise<number> {
  const terminal = createSystemTerminal()
  try {
    const { values } = parseArgs({
      options: {
        listen: { type: 'string' },
        port: { type: 'string' },
        data: { type: 'string' },
        store: { type: 'string' },
        blobs: { type: 'string' },
        'inline-limit': { type: 'string' },
        slots: { type: 'string' },
        open: { type: 'boolean' },
        'allow-host': { type: 'string', multiple: true },
        'tls-cert': { type: 'string' },
        'tls-key': { type: 'string' },
        limit: { type: 'string', multiple: true },
        'allow-user': { type: 'string', multiple: true },
        'run-as': { type: 'string' },
        'allow-root': { type: 'boolean' },
        launcher: { type: 'string' },
        containment: { type: 'string' },
        'secret-key': { type: 'string' },
      },
    })
    const settings = readSettings(
      {
        ...values,
        allowHost: values['allow-host'],
        tlsCert: values['tls-cert'],
        tlsKey: values['tls-key'],
        allowUser: values['allow-user'],
        runAs: values['run-as'],
        allowRoot: values['allow-root'],
        inlineLimit: values['inline-limit'],
        secretKey: values['secret-key'],
      },
      process.env,
    )
    return await serve(settings, {
      terminal,
      version: readVersion(),
      withWorker: true,
      executors: {},
    })
  } catch (error) {
    const known = error instanceof PunctualError ? error : undefined
    const message = error instanceof Error ? error.message : String(error)
    terminal.err(message.replaceAll(/^/gm, 'punctual: ') + '\n')
    if (known) terminal.err(`  help:  ${known.hint}\n`)
    return known?.code === 'config_invalid' ? EX_CONFIG : 1
  }
}

process.exitCode = await main()
