const MIB = 1024 * 1024;
/**
 * Largest heap of one process, in megabytes: a parsed PDF takes about ten times its size when it consists of many small
 * objects.
 */
const MAX_HEAP_MB = 1024;
const MIN_HEAP_MB = 128;
/** Share of the memory that one process may have for its heap. */
const HEAP_SHARE = 1 / 4;
/** The same in all, with the bytes of files, which are not in the heap. */
const MAX_MEMORY_MB = 2048;
const MIN_MEMORY_MB = 384;
const MEMORY_SHARE = 1 / 2;

/**
 * The heap of a process that parses PDFs, in megabytes. @param memoryBytes of this process and its children together.
 */
export function pdfHeapMb(memoryBytes: number): number {
  const share = Math.floor((memoryBytes * HEAP_SHARE) / MIB);
  return Math.min(MAX_HEAP_MB, Math.max(MIN_HEAP_MB, share));
}

/** The memory of such a process in all, in megabytes. @param memoryBytes of this process and its children together. */
export function pdfMemoryMb(memoryBytes: number): number {
  const share = Math.floor((memoryBytes * MEMORY_SHARE) / MIB);
  return Math.min(MAX_MEMORY_MB, Math.max(MIN_MEMORY_MB, share));
}
