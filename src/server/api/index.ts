export type { Api, ApiOptions, Health } from './api.ts'
export { createApi } from './create-api.ts'
