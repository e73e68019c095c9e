/** A document that draws with a shader that takes a day, and then does `after`. */
const endless = (after: string) => `<canvas width=4000 height=4000></canvas><script>
  const gl = document.querySelector('canvas').getContext('webgl');
  const shader = (type, source) => {
    const made = gl.createShader(type);
    gl.shaderSource(made, source);
    gl.compileShader(made);
    return made;
  };
  const program = gl.createProgram();
  gl.attachShader(program, shader(gl.VERTEX_SHADER, 'attribute vec4 p; void main() { gl_Position = p; }'));
  gl.attachShader(program, shader(gl.FRAGMENT_SHADER, 'precision highp float; void main() {' +
    'float a = 0.; for (int i = 0; i < 100000000; i++) a += sin(float(i) * gl_FragCoord.x); gl_FragColor = vec4(a); }'));
  gl.linkProgram(program);
  gl.useProgram(program);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 3, -1, -1, 3]), gl.STATIC_DRAW);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
  for (let i = 0; i < 100; i++) gl.drawArrays(gl.TRIANGLES, 0, 3);
  gl.flush();
  ${after}
</script>`;
/** A document that waits for what it has drawn, and so until its time is over. */
export const ENDLESS_DRAWING = endless(
  'gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));',
);
/** A document that is printed at once, without what it has drawn. */
export const ENDLESS_DRAWING_LEFT = endless("document.querySelector('canvas').remove();");
