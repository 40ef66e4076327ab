import type { WireAudit, WirePage } from '../../core/wire/views.ts'
import { formatTime } from '../../core/wire/runs.ts'
import type { AuditRecord, AuditStore, CatalogStore } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import { readNumberCursor } from '../paging/cursor.ts'
import type { Actors } from '../identity/actors.ts'
import { pageLimit, pageOf, type Paging } from '../paging/paging.ts'

/** The log of changes: what was changed, and by whom. */
export interface AuditLog {
  list(project: string, everywhere: boolean, paging: Paging): Promise<WirePage<WireAudit>>
}

export function createAuditLog(deps: {
  readonly store: AuditStore & Pick<CatalogStore, 'projectNames'>
  readonly catalog: CatalogCache
  readonly actors: Actors
}): AuditLog {
  const { store, catalog, actors } = deps
  return {
    async list(project, everywhere, { limit, cursor }) {
      const before = readNumberCursor(cursor)
      const projectId = everywhere ? null : await catalog.findProject(project)
      if (projectId === null && !everywhere) return { data: [], next_cursor: null }
      const size = pageLimit(limit)
      const rows = await store.listAudit({ projectId, before, limit: size + 1 })
      const ids = rows.flatMap((row) => row.projectId ?? [])
      const projects = await store.projectNames([...new Set(ids)])
      const nameOf = await actors.names()
      return pageOf(
        rows,
        size,
        (row) => show(row, projects, nameOf),
        ({ id }) => id,
      )
    },
  }
}

function show(
  row: AuditRecord,
  projects: ReadonlyMap<number, string>,
  nameOf: (actor: number | null) => string,
): WireAudit {
  const { id, at, projectId, actor, action, target, detail, request, address } = row
  return {
    id: `aud_${id}`,
    at: formatTime(at, 'at'),
    project: projectId === null ? null : (projects.get(projectId) ?? null),
    actor: nameOf(actor),
    action,
    target,
    detail: detail === null ? null : (JSON.parse(detail) as unknown),
    request_id: request,
    address,
  }
}
