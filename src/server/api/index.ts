export type { Api, ApiOptions, Health } from './http/api.ts'
export { createApi } from './create-api.ts'
