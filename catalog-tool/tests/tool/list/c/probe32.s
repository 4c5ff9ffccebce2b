# A USDT probe of a program of 32 bits, as sys/sdt.h would write it.
	.text
	.globl _start
_start:
990:	nop
	hlt

	.section .note.stapsdt,"a","note"
	.balign 4
	.4byte 992f-991f, 994f-993f, 3
991:	.asciz "stapsdt"
992:	.balign 4
993:	.4byte 990b
	.4byte _.stapsdt.base
	.4byte shop_narrow_semaphore
	.asciz "shop"
	.asciz "narrow"
	.asciz "-4@%eax 2@4(%ebp)"
994:	.balign 4

	.section .stapsdt.base,"a"
_.stapsdt.base:
	.byte 0

	.section .probes,"aw"
shop_narrow_semaphore:
	.short 0
