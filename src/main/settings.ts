import { parseArgs } from 'node:util'
import { isIP } from 'node:net'
import { PunctualError } from '../core/errors.ts'

export interface Settings {
  readonly host: string
  readonly port: number
  readonly dataDir: string
  readonly store: string
}

const DEFAULT_PORT = 7420

/** Flags win over `PUNCTUAL_*` variables, which win over the defaults. Everything has a default. */
export function readSettings(args: readonly string[], env: NodeJS.ProcessEnv): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      listen: { type: 'string' },
      data: { type: 'string' },
      store: { type: 'string' },
    },
  })
  const dataDir = values.data ?? env['PUNCTUAL_DATA'] ?? '.punctual'
  const store = values.store ?? env['PUNCTUAL_STORE'] ?? `sqlite:${dataDir}/punctual.db`
  const listen = values.listen ?? env['PUNCTUAL_LISTEN'] ?? `127.0.0.1:${DEFAULT_PORT}`
  return { ...parseListen(listen), dataDir, store }
}

/** `HOST:PORT`, loopback only: beyond it there is no TLS yet, and a token would travel in the clear. */
function parseListen(listen: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(listen)
  const host = match?.[1] ?? match?.[2] ?? ''
  const port = Number(match?.[3])
  if (!match || port > 65_535) {
    throw invalid(`"${listen}" is not HOST:PORT`)
  }
  const isLoopback =
    host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
  if (!isLoopback) throw invalid(`${host} is not a loopback address`)
  return { host, port }
}

function invalid(message: string): PunctualError {
  return new PunctualError('config_invalid', message, { field: 'listen' })
}
