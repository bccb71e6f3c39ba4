const LONGEST_REASON = 500;

/** A file of a model folder that cannot be used. The message is one sentence that names the file and the reason. */
export class ModelFileError extends Error {
  override readonly name = 'ModelFileError';

  constructor(
    /** Path inside the model folder, for example `onnx/model_q4.onnx`. */
    readonly file: string,
    /** What is wrong, as the rest of a sentence that begins with the file's name, without its full stop. */
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    // Names inside a foreign file may hold anything; a message stays one line of bearable length.
    super(`${file}: ${reason.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, LONGEST_REASON)}.`, options);
  }
}
