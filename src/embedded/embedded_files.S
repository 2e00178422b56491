// The files of assets/embedded as read-only data: label to label_end, aligned as tensors want it.
    .section .rodata

    .macro file label, path
    .balign 64
    .global \label
\label:
    .incbin "\path"
    .global \label\()_end
\label\()_end:
    .byte 0
    .endm

    file vitro_embedded_config, "config.json"
    file vitro_embedded_tokenizer, "tokenizer.json"
    file vitro_embedded_weights, "model.safetensors"

    .section .note.GNU-stack, "", %progbits
