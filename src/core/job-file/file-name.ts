const FILE_NAME = /([^/\\]*)\.job\.(?:ya?ml|json)$/

/** `jobs/etl.job.yaml` is the job `etl`; undefined for files that are none. */
export function jobOfFile(path: string): string | undefined {
  return FILE_NAME.exec(path)?.[1]
}
