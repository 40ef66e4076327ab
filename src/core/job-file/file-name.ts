const FILE_NAME = /([^/\\]*)\.job\.(?:ya?ml|json)$/

/** `jobs/etl.job.yaml` contains the job `etl`; undefined for a path that is not a job file. */
export function jobOfFile(path: string): string | undefined {
  return FILE_NAME.exec(path)?.[1]
}
