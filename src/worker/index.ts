/** `punctual/worker`: run your own functions as jobs. */
export { createWorker, type StopReason, type Worker, type WorkerStats } from './worker.ts'
export type { WorkerOptions } from './sessions/worker-options.ts'
export type { ProcessOptions } from './executors/process/processes.ts'
export {
  AttemptStopped,
  FatalError,
  type Handler,
  type HandlerContext,
  type StopCause,
} from './attempts/handler.ts'
