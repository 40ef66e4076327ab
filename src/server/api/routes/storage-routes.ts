import type { Api, ApiOptions } from '../http/api.ts'

export function storageRoutes(api: Api, { admin }: Pick<ApiOptions, 'admin'>): void {
  api.route({
    method: 'GET',
    url: '/v1/storage',
    config: { permission: 'read', everywhere: true, reference: { answers: { 200: 'Storage' } } },
    schema: { summary: 'Show where data is stored, and whether it is writable' },
    handler: () => admin.storage.show(),
  })
}
