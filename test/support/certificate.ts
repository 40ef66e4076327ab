import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { skipWithout } from './skip-without.ts'

export const skipWithoutOpenssl = skipWithout('openssl')

/** A certificate and key for this machine's loopback; only clients that are given it trust it. */
export function makeCertificate(
  dir: string,
  name = 'server',
  host = 'IP:127.0.0.1',
): { cert: string; key: string } {
  const cert = join(dir, `${name}.pem`)
  const key = join(dir, `${name}.key`)
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
      '-addext',
      `subjectAltName=${host}`,
      '-out',
      cert,
      '-keyout',
      key,
    ],
    { stdio: 'pipe' },
  )
  chmodSync(key, 0o600)
  return { cert, key }
}
