export type { CrontabEntry } from './entry.ts'
export { type ImportedJob, importedJobsOf } from './jobs.ts'
export { type CrontabLine, readCrontab } from './read-crontab.ts'
export { hasUserField } from './has-user-field.ts'
