export type { CrontabEntry } from './entry.ts'
export { type ImportedJob, jobsOf } from './jobs.ts'
export { type CrontabLine, readCrontab } from './read-crontab.ts'
