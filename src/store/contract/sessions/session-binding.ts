import type { Adoption, NodeStore, SessionBinding, Store } from '../../port.ts'

type AdoptInput = Parameters<NodeStore['adopt']>[0]

/** A session of one token, without a secret. */
export const BINDING: Omit<SessionBinding, 'node' | 'session'> = {
  registration: 1,
  name: 'w',
  project: 'default',
  offer: '{"projects":["default"]}',
  owner: 'token:1',
  identity: 'token one',
  secret: null,
}

type AdoptRequest = Pick<AdoptInput, 'node' | 'session'> & Partial<AdoptInput>

export function bindingOf(wanted: AdoptRequest): AdoptInput {
  return { ...BINDING, isEverywhere: false, held: [], ...wanted }
}

/** Returns to a session, which is opened first if it does not exist. */
export async function adoptInto(store: Store, wanted: AdoptRequest): Promise<Adoption | null> {
  const binding = bindingOf(wanted)
  const { held: _held, isEverywhere: _isEverywhere, ...row } = binding
  await store.openSession({ ...row, registration: 0 })
  const result = await store.adopt(binding)
  return typeof result === 'string' ? null : result
}
