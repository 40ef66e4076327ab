import type { WireNewToken } from '../../src/core/wire/views.ts'
import { type OpenApi, ROOT_TOKEN } from './open-api.ts'

/** Every kind of caller that might use a session of the token `fleet` of the project `default`. */
export const CALLERS = [
  'its own token',
  'a token of the same identity',
  'another worker of the project',
  'an admin of the project',
  'a worker of another project',
  'an admin of another project',
  'a token of the installation',
  'root',
  'a viewer',
  'a revoked token',
  'nobody',
] as const
export type SessionCaller = (typeof CALLERS)[number]

/** Values of the header `Punctual-Project`. */
export const HEADERS = ['none', 'default', 'shop'] as const
export type Header = (typeof HEADERS)[number]

export const callerHeaders = (header: Header): Record<string, string> =>
  header === 'none' ? {} : { 'punctual-project': header }

/** The project each caller is bound to; null for all projects. */
export function projectOfCaller(caller: SessionCaller): 'default' | 'shop' | null {
  if (caller === 'a token of the installation' || caller === 'root') return null
  return caller.endsWith('another project') ? 'shop' : 'default'
}

/** Why a caller is refused the worker protocol altogether, or the project it names. */
export function refusalOf(caller: SessionCaller, header: Header): string | undefined {
  if (caller === 'nobody' || caller === 'a revoked token') return 'unauthorized'
  if (caller === 'a viewer') return 'forbidden'
  const bound = projectOfCaller(caller)
  return header !== 'none' && bound !== null && bound !== header ? 'forbidden' : undefined
}

export async function makeCallers(
  api: OpenApi,
): Promise<ReadonlyMap<SessionCaller, string | null>> {
  const make = async (name: string, role: string, project: string | null) => {
    const everywhere = project === null ? { everywhere: true } : {}
    const { body } = await api.call<WireNewToken>('POST', '/v1/tokens', {
      body: { name, role, ...everywhere },
      headers: project === null ? {} : { 'punctual-project': project },
    })
    return body
  }
  const revoked = await make('fleet', 'worker', 'default')
  await api.call('DELETE', `/v1/tokens/${revoked.id}`)
  return new Map<SessionCaller, string | null>([
    ['its own token', (await make('fleet', 'worker', 'default')).token],
    ['a token of the same identity', (await make('fleet', 'worker', 'default')).token],
    ['another worker of the project', (await make('other', 'worker', 'default')).token],
    ['an admin of the project', (await make('fleet', 'admin', 'default')).token],
    ['a worker of another project', (await make('fleet', 'worker', 'shop')).token],
    ['an admin of another project', (await make('fleet', 'admin', 'shop')).token],
    ['a token of the installation', (await make('fleet', 'worker', null)).token],
    ['root', ROOT_TOKEN],
    ['a viewer', (await make('looks', 'viewer', 'default')).token],
    ['a revoked token', revoked.token],
    ['nobody', null],
  ])
}
