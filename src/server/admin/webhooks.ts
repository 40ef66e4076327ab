import { PunctualError } from '../../core/errors.ts'
import { requirePublicId } from '../../core/ids.ts'
import { LIMITS } from '../../core/limits.ts'
import type { WirePage } from '../../core/wire/views.ts'
import type {
  WireDeliveryDetail,
  WireDelivery,
  WireNewWebhook,
  WireWebhook,
} from '../../core/webhook/webhook-views.ts'
import { refuseUrl } from '../../core/work/web-request.ts'
import { eventBitsOf, TEST_EVENT, type WebhookEvent } from '../../core/webhook/webhook.ts'
import type { Store, WebhookRecord } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import { readNumberCursor } from '../paging/cursor.ts'
import type { Messages } from '../webhooks/messages.ts'
import type { Sealer } from '../webhooks/sealer.ts'
import { secretEnding, mintSecret, requireSecret } from '../webhooks/signing.ts'
import type { Actors } from '../identity/actors.ts'
import { auditEntryFor, type RequestedBy } from '../identity/requested-by.ts'
import { pageLimit, pageOf, type Paging } from '../paging/paging.ts'
import { showDelivery, showDeliveryDetail, showWebhook } from './webhook-views.ts'

export interface WebhookInput {
  readonly url: string
  readonly events: readonly WebhookEvent[]
  readonly jobs?: readonly string[] | undefined
  readonly enabled?: boolean | undefined
  readonly secret?: string | undefined
}

/** Webhooks, and the outcomes of their deliveries. */
export interface WebhookAdmin {
  /**
   * With `onlyIfNew`, only if there is no webhook of this name. The secret is returned only if it is
   * new.
   */
  put(by: RequestedBy, name: string, input: WebhookInput, onlyIfNew: boolean): Promise<PutAnswer>
  get(project: string, name: string): Promise<WireWebhook>
  list(project: string): Promise<readonly WireWebhook[]>
  remove(by: RequestedBy, name: string): Promise<void>
  rotate(by: RequestedBy, name: string, options: RotateOptions): Promise<WireNewWebhook>
  /** Sends a message that says it is a test. */
  test(by: RequestedBy, name: string): Promise<WireDelivery>
  deliveries(project: string, name: string, paging: Paging): Promise<WirePage<WireDelivery>>
  delivery(project: string, name: string, id: string): Promise<WireDeliveryDetail>
  redeliver(by: RequestedBy, name: string, id: string): Promise<WireDelivery>
}

export type PutAnswer =
  | { readonly isNew: true; readonly webhook: WireNewWebhook }
  | { readonly isNew: false; readonly webhook: WireWebhook }

export interface RotateOptions {
  readonly secret?: string | undefined
  /** How long the old secret is still used. */
  readonly keepMs?: number | undefined
}

const KEEP_MS = 24 * 3_600_000

export interface WebhookAdminDeps {
  readonly store: Store
  readonly catalog: CatalogCache
  readonly actors: Actors
  readonly sealer: Sealer
  readonly messages: Messages
  mintId(): number
  storeNow(): number
  /** A delivery is due now. */
  onDue(): void
}

/** Finds a webhook, or throws. */
type FindWebhook = (project: string, name: string) => Promise<WebhookRecord>

export function createWebhookAdmin(deps: WebhookAdminDeps): WebhookAdmin {
  const { store, catalog, actors, sealer } = deps

  const find: FindWebhook = async (project, name) => {
    const projectId = await catalog.findProject(project)
    const found = projectId === null ? null : await store.findWebhook({ projectId, name })
    if (found) return found
    throw new PunctualError('webhook_not_found', `there is no webhook ${name}`)
  }
  const get = async (project: string, name: string) =>
    showWebhook(await find(project, name), await actors.names())

  const rotate = async (by: RequestedBy, name: string, secret: string, keepMs: number) => {
    const { projectId, previous } = await find(by.project, name)
    const kept = await seal(by, projectId, name, secret, sealer)
    const audit = auditEntryFor(by, projectId, 'webhook.rotate', name, { keep_ms: keepMs })
    const isDone = await store.rotateWebhook({ projectId, name, secret: kept, keepMs, audit })
    const unused = isDone ? previous?.sealed : kept.sealed
    if (unused !== undefined) await sealer.discard(by, projectId, unused)
    if (!isDone) await find(by.project, name)
  }

  return {
    async put(by, name, input, onlyIfNew) {
      const { url, events, jobs = null, enabled = true } = input
      requireUrl(url)
      const given = input.secret === undefined ? null : requireSecret(input.secret, 'secret')
      const projectId = await catalog.project(by.project)
      const known = await store.findWebhook({ projectId, name })
      const secret = given ?? mintSecret()
      const kept = known?.secret ?? (await seal(by, projectId, name, secret, sealer))
      // The URL is often a secret too, so the audit log has only the host.
      const detail = { host: new URL(url).host, events, jobs, enabled }
      const stored = await store.putWebhook({
        projectId,
        name,
        url,
        enabled,
        onlyIfNew,
        maxWebhooks: LIMITS.webhooks,
        events: eventBitsOf(events),
        jobs: jobs === null ? null : JSON.stringify(jobs),
        secret: kept,
        audit: auditEntryFor(by, projectId, 'webhook.put', name, detail),
      })
      if (stored !== 'created' && !known) await sealer.discard(by, projectId, kept.sealed)
      requireStored(stored, name)
      if (stored === 'created') {
        return { isNew: true, webhook: { ...(await get(by.project, name)), secret } }
      }
      if (given !== null) {
        const { secret: current } = await find(by.project, name)
        const [opened] = await sealer.open(projectId, [current.sealed])
        if (opened !== given) await rotate(by, name, given, KEEP_MS)
      }
      return { isNew: false, webhook: await get(by.project, name) }
    },

    get,

    async list(project) {
      const projectId = await catalog.findProject(project)
      if (projectId === null) return []
      const nameOf = await actors.names()
      return (await store.listWebhooks({ projectId })).map((one) => showWebhook(one, nameOf))
    },

    async remove(by, name) {
      const { projectId, secret, previous } = await find(by.project, name)
      const audit = auditEntryFor(by, projectId, 'webhook.delete', name)
      if (!(await store.deleteWebhook({ projectId, name, audit }))) await find(by.project, name)
      for (const { sealed } of previous ? [secret, previous] : [secret]) {
        await sealer.discard(by, projectId, sealed)
      }
    },

    async rotate(by, name, { secret: given, keepMs = KEEP_MS }) {
      const secret = given === undefined ? mintSecret() : requireSecret(given, 'secret')
      await rotate(by, name, secret, keepMs)
      return { ...(await get(by.project, name)), secret }
    },

    ...createDeliveryAdmin(find, deps),
  }
}

/** Deliveries of webhooks. */
function createDeliveryAdmin(
  find: FindWebhook,
  deps: WebhookAdminDeps,
): Pick<WebhookAdmin, 'test' | 'deliveries' | 'delivery' | 'redeliver'> {
  const { store, catalog } = deps

  const findDelivery = async (project: string, name: string, id: string) => {
    const number = requirePublicId('dlv', id, 'id')
    const { id: webhookId } = await find(project, name)
    const found = await store.findDelivery({ id: number, webhookId })
    if (found) return found
    throw new PunctualError('delivery_not_found', `the webhook ${name} has no delivery ${id}`)
  }

  return {
    async test(by, name) {
      const { id: webhookId } = await find(by.project, name)
      const id = deps.mintId()
      const body = deps.messages.ofTest(deps.storeNow(), name, by.project)
      await store.addDelivery({ id, webhookId, event: TEST_EVENT, runId: null, body })
      deps.onDue()
      const added = await store.findDelivery({ id, webhookId })
      if (!added) throw new PunctualError('webhook_not_found', `there is no webhook ${name}`)
      return showDelivery(added)
    },

    async deliveries(project, name, { limit, cursor }) {
      const before = readNumberCursor(cursor)
      const { id: webhookId } = await find(project, name)
      const size = pageLimit(limit)
      const rows = await store.listDeliveries({ webhookId, before, limit: size + 1 })
      return pageOf(rows, size, showDelivery, ({ id }) => id)
    },

    delivery: async (project, name, id) =>
      showDeliveryDetail(await findDelivery(project, name, id)),

    async redeliver(by, name, id) {
      const { id: number, webhookId } = await findDelivery(by.project, name, id)
      const projectId = await catalog.project(by.project)
      const audit = auditEntryFor(by, projectId, 'webhook.redeliver', name, { delivery: id })
      await store.redeliver({ id: number, webhookId, audit })
      deps.onDue()
      return showDelivery(await findDelivery(by.project, name, id))
    },
  }
}

async function seal(
  by: RequestedBy,
  projectId: number,
  name: string,
  secret: string,
  sealer: Sealer,
) {
  return {
    sealed: await sealer.seal(by, projectId, name, secret),
    ending: secretEnding(secret),
  }
}

function requireStored(stored: Awaited<ReturnType<Store['putWebhook']>>, name: string): void {
  if (stored === 'exists') {
    throw new PunctualError('webhook_exists', `there is a webhook ${name} already`)
  }
  if (stored === 'full') {
    const message = `the project has ${LIMITS.webhooks} webhooks already`
    throw new PunctualError('too_many_webhooks', message)
  }
}

function requireUrl(url: string): void {
  const problem = url.includes('#') ? 'has a part after #, which is never sent' : refuseUrl(url)
  if (problem === undefined) return
  throw new PunctualError('invalid_field', `url ${problem}`, { field: 'url' })
}
