/** What users import as `punctual`. */
export * from './client/index.ts'
