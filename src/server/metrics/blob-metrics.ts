import type * as prom from 'prom-client'
import type { BlobFigures } from '../payloads/measure-blobs.ts'

export interface BlobMetrics {
  onBlob(figures: BlobFigures): void
  onCollected(count: number): void
}

/** Counters for the blob store. */
export function blobMetrics(
  { Counter, Histogram }: Pick<typeof prom, 'Counter' | 'Histogram'>,
  registry: prom.Registry,
): BlobMetrics {
  const registers = [registry]
  const operations = new Counter({
    name: 'punctual_blob_operations_total',
    help: 'Blobs written, read, …',
    registers,
    labelNames: ['operation', 'outcome'],
  })
  const bytes = new Counter({
    name: 'punctual_blob_bytes_total',
    help: 'Bytes written and read.',
    registers,
    labelNames: ['operation'],
  })
  const seconds = new Histogram({
    name: 'punctual_blob_seconds',
    help: 'How long an operation took.',
    registers,
    labelNames: ['operation'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
  })
  const collected = new Counter({
    name: 'punctual_blobs_collected_total',
    help: 'Orphans deleted.',
    registers,
  })
  for (const operation of ['put', 'get', 'delete', 'list']) {
    operations.inc({ operation, outcome: 'ok' }, 0)
  }
  return {
    onBlob(figures) {
      const { operation, outcome } = figures
      operations.inc({ operation, outcome })
      if (figures.bytes > 0) bytes.inc({ operation }, figures.bytes)
      seconds.observe({ operation }, figures.tookMs / 1_000)
    },
    onCollected: (count) => collected.inc(count),
  }
}
